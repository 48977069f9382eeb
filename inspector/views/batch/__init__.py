"""The page Batch: several texts at once, padded, packed or one by one."""
