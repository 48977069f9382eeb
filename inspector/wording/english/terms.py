"""The glossary: what each term of the page means, in two plain sentences."""

from __future__ import annotations

MEANINGS = {
    "attention": "For each token, a head decides how much to take from each token that it sees, itself included. These "
    "shares are its attention: they are 0 or more and add up to 1.",
    "head": "A head is one of several independent looks that a layer takes at the text. Each head has attention of its "
    "own, and the layer puts together what its heads found.",
    "layer": "A layer is one round of work on all tokens: attention first, then a small network for each token alone. "
    "Layers follow one another, and each reads what the one before it wrote.",
    "token": "A token is a piece of text that the model reads as one unit: a word, a part of a word, or a mark. "
    "The tokenizer cuts the text into tokens.",
    "query": "The query is the token that looks. It is a row of the map, and its shares add up to 1.",
    "key": "A key is a token that is looked at. It is a column of the map.",
    "[CLS]": "[CLS] is a token that the tokenizer puts before every text. It is no word: heads often rest on it when "
    "they find nothing to look for.",
    "valid loss": "The mean of −ln p on text that the model never learned from, where p is what it gives to the true "
    "token. It is 0 where the model is always sure and right.",
    "perplexity": "e to the power of the loss: the number of equally likely tokens among which a guess would be as "
    "hard. A model that knows nothing has the size of its vocabulary.",
    "position table": "A matrix with a row for each position. The row is added to the token that stands there, for "
    "attention itself sees no order.",
    "RoPE": "Rotary position embedding: pairs of dimensions of a query and a key are turned by an angle for their "
    "position. Their product then depends on the distance between the two (Su et al. 2021).",
    "ALiBi": "Attention with linear biases: the farther a key is from its query, the more is taken off their score. "
    "Nothing is learned; each head has a slope of its own (Press et al. 2022).",
    "cosine": "The similarity of two vectors' directions: 1 where they are the same, 0 where they have nothing in "
    "common, −1 where they are opposite.",
    "parameters": "The numbers that a model has learned: the entries of its matrices, norms and tables. They do not "
    "depend on the text.",
    "embedding": "A table with a row of numbers for each token of the vocabulary. A token enters the model as its row.",
    "FLOPs": "Floating-point operations: how many numbers are multiplied or added. A multiplication followed by an "
    "addition counts as 2; the shares are of the matrix products.",
    "FFN": "The feed-forward network of a layer: two or three matrices with a non-linear function between them. It "
    "works on each token alone, after attention has mixed them.",
    "mixture of experts": "Several FFNs stand beside each other in a layer, the experts. A router chooses a few of "
    "them for each token, and what they give is summed with its weights (Shazeer et al. 2017).",
    "scores and mix": "The scores compare every query with every key, and the mix sums the values by the weights. Both "
    "have a number for each pair of tokens, so twice the text costs four times as much.",
    "LayerNorm": "LayerNorm gives every token's vector mean 0 and standard deviation 1, each token by itself. Then "
    "it multiplies each dimension by a learned gamma and adds a learned beta.",
    "RMSNorm": "RMSNorm divides every token's vector by its root mean square, each token by itself. It takes no mean "
    "off and adds no beta, so it is cheaper than LayerNorm.",
    "BatchNorm": "BatchNorm brings every dimension to mean 0 and standard deviation 1 over the tokens of a training "
    "batch, so a token's numbers depend on other texts. Once trained it uses the averages that it kept.",
    "post-norm": "The norm stands after the sum of a sublayer's output and its input. So it was in the first "
    "Transformer and in BERT.",
    "pre-norm": "The norm stands before a sublayer, and the sum runs around both. So it is in GPT-2, Llama and T5, "
    "for deep networks learn more easily with it.",
    "standard deviation": "How far the numbers of a vector spread around their mean: the root of the mean squared "
    "distance from it.",
    "root mean square": "The size of a typical number of a vector: the root of the mean of its squares.",
    "[SEP]": "[SEP] is a token that the tokenizer puts behind every text. It is no word: heads often rest on it when "
    "they find nothing to look for.",
    "first token": "Many heads of models that write give most of their attention to the first token. It serves as a "
    "place to rest on, whatever its word is (Xiao et al. 2023: an attention sink).",
    "previous-token head": "A head that looks one token back from wherever it stands. Later layers use it to know what "
    "came before a token.",
    "next-token head": "A head that looks one token ahead from wherever it stands. Only a model that sees the whole "
    "text at once can have one.",
    "broad attention": "The head looks at many tokens about alike, and takes a mean of them. Its entropy is high.",
    "induction head": "A head that looks for another place of the same token, and at what followed it there. With it a "
    "model can go on with a pattern that the text has shown before (Olsson et al. 2022).",
    "cross-attention": "The attention of a decoder's tokens to the source text. It shows what the model reads while it "
    "writes each token.",
    "probability": "At each step the model gives every token it knows a share of 1: how much it expects it next. "
    "The shares of all tokens add up to 1.",
    "KV cache": "The cache keeps the keys and values of the tokens that were read already. A new token then needs work "
    "of its own alone, and the tokens before it are not computed again.",
    "logit": "The number that a model gives a token of its vocabulary before the softmax. The larger it is beside the "
    "others', the likelier the token.",
    "residual stream": "The state of a token that runs through all layers. Attention and the FFN read it and add to "
    "it; what none of them touches stays as it was.",
    "padding": "Tokens without meaning that make the texts of a batch equally long, for a batch is a rectangle. The "
    "mask hides them from the text's tokens.",
    "mask": "The rule that says which keys a query must not look at. Their scores are set to −∞ before the softmax, so "
    "that their weights are 0.",
    "causal mask": "A mask that hides from each token all that come after it. Models that write have one, for what "
    "comes next is what they have to predict.",
    "packed row": "Several texts one after the other in one row, in place of padding. A mask of blocks hides the texts "
    "from each other.",
    "scores": "The number that a query and a key get before the softmax: their product, scaled. The softmax makes "
    "weights of a row's scores.",
    "activation function": "A function of one number that bends a line: ReLU sets what is below 0 to 0, GELU and SiLU "
    "do so softly. Without it the two matrices of an FFN would be one.",
    "score function": "The rule that makes one number, the score, of a query and a key: their dot product, a product "
    "with a matrix between them, or a small network that reads both.",
    "additive scores": "A small network for each pair: v · tanh(W q + U k + b), with matrices W and U and a vector v "
    "that are learned (Bahdanau et al. 2015).",
    "linear attention": "Attention whose similarity is a product φ(q) · φ(k) of positive numbers. So the keys can be "
    "summed up once for all queries, and the work grows with the text, not with its square (Katharopoulos et al. "
    "2020).",
    "sigmoid attention": "Each score becomes a weight from 0 to 1 by itself, without a look at the other keys. A row "
    "need not sum to 1 (Ramapuram et al. 2024).",
    "q · k": "The dot product of a query and a key: the products of their numbers, dimension by dimension, added up. "
    "It is the score of the pair before the scale and the softmax.",
    "d_k": "The width of a head: how many numbers a query and a key have. The sum q · k has so many terms.",
    "softmax Jacobian": "J says how far each weight of a row moves when a score moves a little. ‖J‖ is the size of the "
    "whole matrix, the root of its squared entries: 0 where one key has all the weight, 0.5 where two share it.",
    "excess kurtosis": "The mean of the fourth power of the distance from the mean, in standard deviations, less 3. "
    "It is 0 for a normal distribution, and larger where few numbers lie very far out.",
    "asymmetry": "How far a matrix is from its mirror image at the diagonal: ‖M − Mᵀ‖ / ‖M‖. It is 0 where the two "
    "directions of each pair agree.",
    "rank correlation": "Spearman's: do two lists put the same things in the same order? 1 where they do, 0 where the "
    "orders have nothing in common, −1 where one is the other backwards.",
    "gradient": "How much a loss changes when a number of a matrix changes a little. Training moves each number "
    "against its gradient; where that is 0 nothing is learned.",
    "gradient of a state": "How far a number that is made of the last state moves when the state of an earlier token "
    "moves a little. Where it is 0, training cannot learn anything from that token.",
    "forget bias": "At every step an LSTM keeps a share of its cell, the forget gate. The bias moves that share: at 0 "
    "it is about a half, at 2 about 0.88.",
}
