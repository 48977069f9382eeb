"""Headings over numbers that are measured of something else than the model that is asked, by their names in files."""

from inspector.questions.record.both import Both

MEASURED = {
    "random": Both("random vectors", "随机向量"),
    "small": Both("small networks, made here", "当场构建的小网络"),
    "others": Both("other models", "其他模型"),
}
