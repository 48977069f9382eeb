"""Names and purposes of the pages and of the menu's groups, in Chinese."""

from __future__ import annotations

GROUPS = {
    "read": "注意力",
    "inside": "模型内部",
    "write": "写作",
    "learn": "学习",
    "corpus": "多篇文本",
}
TITLES = {
    "": "注意力",
    "compare": "对比",
    "scores": "分数",
    "what_if": "假如",
    "block": "单层",
    "layernorm": "归一化",
    "positions": "位置",
    "costs": "开销",
    "generate": "生成",
    "time": "时序",
    "questions": "问题",
    "practice": "练习",
    "lessons": "课程",
    "tokens": "分词",
    "batch": "批次",
    "lab": "实验室",
    "training": "训练",
    "atlas": "图谱",
}
"""The name of each page by its address."""
PURPOSES = {
    "": "看看 Transformer 的每个头在你的文本中关注什么。",
    "compare": "把不同的头、文本和模型并排比较。",
    "scores": "看看 softmax 的输入是什么，它又把输入变成什么。",
    "what_if": "改动文本或模型，看看结果如何变化。",
    "block": "跟随一个 token 走过一层，逐个部件地看。",
    "layernorm": "看看层归一化对每个 token 做了什么。",
    "positions": "看看模型如何知道 token 的顺序。",
    "costs": "算一算注意力的开销，以及 FFN 的开销。",
    "generate": "看模型怎样逐个 token 地写下去。",
    "time": "看看梯度能传多远，哪一步要等哪一步。",
    "questions": "看看关于 Transformer 的各种说法，在你的文本上是否成立。",
    "practice": "亲手写出 Transformer 的一个部件，并与真实的层对照。",
    "lessons": "一步一步完成一堂课，并交上你的答案。",
    "tokens": "看看文本如何切成 token，又会带来什么影响。",
    "batch": "看看批次让每个 token 看到什么，填充要付出什么代价。",
    "lab": "训练两个很小的网络，看看改动一个开关会怎样。",
    "training": "看看随附的模型是怎样学会的。",
    "atlas": "看看每个头在大量文本上做什么。",
}
LOADING = "Headlight 正在加载。"
ALL_PAGES = "全部页面"
NO_SUCH_PAGE = "这个地址没有对应的页面，因此显示第一页“注意力”。"
ALL_NUMBERS = "全部数值"
STEP = "第 {} 步，共 {} 步：**{}**"
BACK, NEXT = "上一步", "下一步"
WHY_NOT = "原因：{}。"
ONLY_GIVEN = "这里只有给定的注意力权重，没有模型，而这一节要运行模型或读取它的权重。请用模型记录这段文本后再看。"
NOT_AT_HAND = "这份存档所用的模型 {} 不在本机，而这一节要运行模型或读取它的权重。"
NO_SIDE_B = "没有显示 B 侧：{}。"
PYTHON = "Python"
