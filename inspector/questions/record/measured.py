"""What a number is measured of where it is not the model that is asked: a heading over such numbers."""

from inspector.questions.record.both import Both

RANDOM = Both("random vectors", "随机向量")
SMALL = Both("small networks, made here", "当场构建的小网络")
OTHERS = Both("other models", "其他模型")
