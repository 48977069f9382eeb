"""The papers that questions cite, each with an address where it can be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper. cited: authors and year. title: as printed. url: an address where it can be read."""

    cited: str
    title: str
    url: str


def _arxiv(cited: str, title: str, number: str) -> Paper:
    return Paper(cited, title, f"https://arxiv.org/abs/{number}")


ABNAR_2020 = _arxiv("Abnar & Zuidema 2020", "Quantifying Attention Flow in Transformers", "2005.00928")
AGRAWAL_2023 = _arxiv(
    "Agrawal et al. 2023",
    "SARATHI: Efficient LLM Inference by Piggybacking Decodes with Chunked Prefills",
    "2308.16369",
)
AINSLIE_2023 = _arxiv(
    "Ainslie et al. 2023",
    "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints",
    "2305.13245",
)
BAHDANAU_2015 = _arxiv(
    "Bahdanau, Cho & Bengio 2015", "Neural Machine Translation by Jointly Learning to Align and Translate", "1409.0473"
)
BA_2016 = _arxiv("Ba, Kiros & Hinton 2016", "Layer Normalization", "1607.06450")
BENGIO_1994 = Paper(
    "Bengio, Simard & Frasconi 1994",
    "Learning Long-Term Dependencies with Gradient Descent is Difficult",
    "https://doi.org/10.1109/72.279181",
)
BELROSE_2023 = _arxiv(
    "Belrose et al. 2023", "Eliciting Latent Predictions from Transformers with the Tuned Lens", "2303.08112"
)
BELTAGY_2020 = _arxiv("Beltagy, Peters & Cohan 2020", "Longformer: The Long-Document Transformer", "2004.05150")
BHOJANAPALLI_2020 = _arxiv(
    "Bhojanapalli et al. 2020", "Low-Rank Bottleneck in Multi-head Attention Models", "2002.07028"
)
BRODY_2023 = _arxiv(
    "Brody, Alon & Yahav 2023", "On the Expressivity Role of LayerNorm in Transformers' Attention", "2305.02582"
)
BRUNNER_2020 = _arxiv("Brunner et al. 2020", "On Identifiability in Transformers", "1908.04211")
BRITZ_2017 = _arxiv(
    "Britz et al. 2017", "Massive Exploration of Neural Machine Translation Architectures", "1703.03906"
)
CHO_2014 = _arxiv(
    "Cho et al. 2014",
    "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation",
    "1406.1078",
)
CLARK_2019 = _arxiv("Clark et al. 2019", "What Does BERT Look At? An Analysis of BERT's Attention", "1906.04341")
DAI_2019 = _arxiv(
    "Dai et al. 2019", "Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context", "1901.02860"
)
DAO_2022 = _arxiv(
    "Dao et al. 2022", "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", "2205.14135"
)
DEHGHANI_2019 = _arxiv("Dehghani et al. 2019", "Universal Transformers", "1807.03819")
DEEPSEEK_2024 = _arxiv(
    "DeepSeek-AI 2024",
    "DeepSeek-V2: A Strong, Economical, and Efficient Mixture-of-Experts Language Model",
    "2405.04434",
)
DETTMERS_2022 = _arxiv(
    "Dettmers et al. 2022", "LLM.int8(): 8-bit Matrix Multiplication for Transformers at Scale", "2208.07339"
)
DEVLIN_2019 = _arxiv(
    "Devlin et al. 2019",
    "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    "1810.04805",
)
DONG_2021 = _arxiv(
    "Dong, Cordonnier & Loukas 2021",
    "Attention is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth",
    "2103.03404",
)
ELHAGE_2021 = Paper(
    "Elhage et al. 2021",
    "A Mathematical Framework for Transformer Circuits",
    "https://transformer-circuits.pub/2021/framework/index.html",
)
ETHAYARAJH_2019 = _arxiv(
    "Ethayarajh 2019",
    "How Contextual are Contextualized Word Representations? Comparing the Geometry of BERT, ELMo, and GPT-2 "
    "Embeddings",
    "1909.00512",
)
FEDUS_2021 = _arxiv(
    "Fedus, Zoph & Shazeer 2021",
    "Switch Transformers: Scaling to Trillion Parameter Models with Simple and Efficient Sparsity",
    "2101.03961",
)
GARG_2019 = _arxiv("Garg et al. 2019", "Jointly Learning to Align and Translate with Transformer Models", "1909.02074")
GLOROT_2010 = Paper(
    "Glorot & Bengio 2010",
    "Understanding the difficulty of training deep feedforward neural networks",
    "https://proceedings.mlr.press/v9/glorot10a.html",
)
HAVIV_2022 = _arxiv(
    "Haviv et al. 2022",
    "Transformer Language Models without Positional Encodings Still Learn Positional Information",
    "2203.16634",
)
HENDRYCKS_2016 = _arxiv("Hendrycks & Gimpel 2016", "Gaussian Error Linear Units (GELUs)", "1606.08415")
HE_2015 = _arxiv(
    "He et al. 2015",
    "Delving Deep into Rectifiers: Surpassing Human-Level Performance on ImageNet Classification",
    "1502.01852",
)
HE_2016 = _arxiv("He et al. 2016", "Deep Residual Learning for Image Recognition", "1512.03385")
HOCHREITER_1997 = Paper(
    "Hochreiter & Schmidhuber 1997", "Long Short-Term Memory", "https://doi.org/10.1162/neco.1997.9.8.1735"
)
HOLTZMAN_2020 = _arxiv("Holtzman et al. 2020", "The Curious Case of Neural Text Degeneration", "1904.09751")
HU_2021 = _arxiv("Hu et al. 2021", "LoRA: Low-Rank Adaptation of Large Language Models", "2106.09685")
IOFFE_2015 = _arxiv(
    "Ioffe & Szegedy 2015",
    "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift",
    "1502.03167",
)
JAIN_2019 = _arxiv("Jain & Wallace 2019", "Attention is not Explanation", "1902.10186")
KE_2021 = _arxiv("Ke, He & Liu 2021", "Rethinking Positional Encoding in Language Pre-training", "2006.15595")
KITAEV_2020 = _arxiv("Kitaev, Kaiser & Levskaya 2020", "Reformer: The Efficient Transformer", "2001.04451")
KOBAYASHI_2020 = _arxiv(
    "Kobayashi et al. 2020", "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms", "2004.10102"
)
KOBAYASHI_2021 = _arxiv(
    "Kobayashi et al. 2021",
    "Incorporating Residual and Normalization Layers into Analysis of Masked Language Models",
    "2109.07152",
)
KOVALEVA_2021 = _arxiv(
    "Kovaleva et al. 2021", "BERT Busters: Outlier Dimensions that Disrupt Transformers", "2105.06990"
)
KUDO_2018 = _arxiv(
    "Kudo 2018",
    "Subword Regularization: Improving Neural Network Translation Models with Multiple Subword Candidates",
    "1804.10959",
)
LAN_2020 = _arxiv(
    "Lan et al. 2020", "ALBERT: A Lite BERT for Self-supervised Learning of Language Representations", "1909.11942"
)
LEVIATHAN_2023 = _arxiv(
    "Leviathan, Kalman & Matias 2023", "Fast Inference from Transformers via Speculative Decoding", "2211.17192"
)
LIU_2020 = _arxiv("Liu et al. 2020", "On the Variance of the Adaptive Learning Rate and Beyond", "1908.03265")
LI_2023 = _arxiv(
    "Li et al. 2023",
    "The Lazy Neuron Phenomenon: On Emergence of Activation Sparsity in Transformers",
    "2210.06313",
)
MICHEL_2019 = _arxiv("Michel, Levy & Neubig 2019", "Are Sixteen Heads Really Better than One?", "1905.10650")
NOSTALGEBRAIST_2020 = Paper(
    "nostalgebraist 2020",
    "interpreting GPT: the logit lens",
    "https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens",
)
OLSSON_2022 = _arxiv("Olsson et al. 2022", "In-context Learning and Induction Heads", "2209.11895")
PASCANU_2013 = _arxiv(
    "Pascanu, Mikolov & Bengio 2013", "On the difficulty of training Recurrent Neural Networks", "1211.5063"
)
PHAM_2020 = _arxiv(
    "Pham et al. 2020",
    "Out of Order: How Important Is The Sequential Order of Words in a Sentence in Natural Language Understanding "
    "Tasks?",
    "2012.15180",
)
PRESS_2017 = _arxiv("Press & Wolf 2017", "Using the Output Embedding to Improve Language Models", "1608.05859")
PRESS_2022 = _arxiv(
    "Press, Smith & Lewis 2022",
    "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
    "2108.12409",
)
PUCCETTI_2022 = _arxiv(
    "Puccetti et al. 2022", "Outlier Dimensions that Disrupt Transformers Are Driven by Frequency", "2205.11380"
)
QI_2018 = _arxiv(
    "Qi et al. 2018",
    "When and Why are Pre-trained Word Embeddings Useful for Neural Machine Translation?",
    "1804.06323",
)
RAFFEL_2020 = _arxiv(
    "Raffel et al. 2020",
    "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    "1910.10683",
)
REIMERS_2019 = _arxiv(
    "Reimers & Gurevych 2019", "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks", "1908.10084"
)
SANTURKAR_2018 = _arxiv("Santurkar et al. 2018", "How Does Batch Normalization Help Optimization?", "1805.11604")
SCHUSTER_2012 = Paper(
    "Schuster & Nakajima 2012",
    "Japanese and Korean Voice Search",
    "https://research.google/pubs/japanese-and-korean-voice-search/",
)
SAXENA_2023 = Paper("Saxena 2023", "Prompt Lookup Decoding", "https://github.com/apoorvumang/prompt-lookup-decoding")
SENNRICH_2016 = _arxiv(
    "Sennrich, Haddow & Birch 2016", "Neural Machine Translation of Rare Words with Subword Units", "1508.07909"
)
SHAW_2018 = _arxiv(
    "Shaw, Uszkoreit & Vaswani 2018", "Self-Attention with Relative Position Representations", "1803.02155"
)
SHAZEER_2017 = _arxiv(
    "Shazeer et al. 2017",
    "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer",
    "1701.06538",
)
SHAZEER_2019 = _arxiv("Shazeer 2019", "Fast Transformer Decoding: One Write-Head is All You Need", "1911.02150")
SHAZEER_2020 = _arxiv("Shazeer 2020", "GLU Variants Improve Transformer", "2002.05202")
SHEN_2020 = _arxiv("Shen et al. 2020", "PowerNorm: Rethinking Batch Normalization in Transformers", "2003.07845")
SINHA_2021 = _arxiv(
    "Sinha et al. 2021",
    "Masked Language Modeling and the Distributional Hypothesis: Order Word Matters Pre-training for Little",
    "2104.06644",
)
SRIVASTAVA_2014 = Paper(
    "Srivastava et al. 2014",
    "Dropout: A Simple Way to Prevent Neural Networks from Overfitting",
    "https://jmlr.org/papers/v15/srivastava14a.html",
)
SU_2021 = _arxiv("Su et al. 2021", "RoFormer: Enhanced Transformer with Rotary Position Embedding", "2104.09864")
SUTSKEVER_2014 = _arxiv(
    "Sutskever, Vinyals & Le 2014", "Sequence to Sequence Learning with Neural Networks", "1409.3215"
)
SUN_2024 = _arxiv("Sun et al. 2024", "Massive Activations in Large Language Models", "2402.17762")
VASWANI_2017 = _arxiv("Vaswani et al. 2017", "Attention Is All You Need", "1706.03762")
VIG_2019 = _arxiv(
    "Vig & Belinkov 2019", "Analyzing the Structure of Attention in a Transformer Language Model", "1906.04284"
)
VOITA_2019 = _arxiv(
    "Voita et al. 2019",
    "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned",
    "1905.09418",
)
WETTIG_2023 = _arxiv("Wettig et al. 2023", "Should You Mask 15% in Masked Language Modeling?", "2202.08005")
WIEGREFFE_2019 = _arxiv("Wiegreffe & Pinter 2019", "Attention is not not Explanation", "1908.04626")
WU_2016 = _arxiv(
    "Wu et al. 2016",
    "Google's Neural Machine Translation System: Bridging the Gap between Human and Machine Translation",
    "1609.08144",
)
XIAO_2023 = _arxiv("Xiao et al. 2023", "Efficient Streaming Language Models with Attention Sinks", "2309.17453")
XIONG_2020 = _arxiv("Xiong et al. 2020", "On Layer Normalization in the Transformer Architecture", "2002.04745")
YAN_2019 = _arxiv("Yan et al. 2019", "TENER: Adapting Transformer Encoder for Named Entity Recognition", "1911.04474")
XIONG_2023 = _arxiv("Xiong et al. 2023", "Effective Long-Context Scaling of Foundation Models", "2309.16039")
ZAHEER_2020 = _arxiv("Zaheer et al. 2020", "Big Bird: Transformers for Longer Sequences", "2007.14062")
ZHANG_2019 = _arxiv("Zhang & Sennrich 2019", "Root Mean Square Layer Normalization", "1910.07467")
ZHOU_2018 = _arxiv("Zhou et al. 2018", "Deep Interest Network for Click-Through Rate Prediction", "1706.06978")
