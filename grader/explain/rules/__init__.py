"""All rules, the special before the general: the first that fits is taken."""

from grader.explain.rules import cpp, kernels, setting, syntax, tensors

RULES = (*setting.RULES, *kernels.RULES, *tensors.RULES, *syntax.RULES, *cpp.RULES)
