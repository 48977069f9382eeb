"""Headings over numbers that are measured of something else than the model that is asked."""

from inspector.questions.record.both import Both

RANDOM = Both("random vectors", "随机向量")
SMALL = Both("small networks, made here", "当场构建的小网络")
OTHERS = Both("other models", "其他模型")
