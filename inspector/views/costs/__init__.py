"""The page Costs: what a model's parts cost, of a loaded model and of any configuration without weights."""
