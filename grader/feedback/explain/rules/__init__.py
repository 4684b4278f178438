"""All rules, the special before the general: the first that fits is taken."""

from grader.feedback.explain.rules import cpp, kernel_rules, setting, syntax, tensor_rules

RULES = (*setting.RULES, *kernel_rules.RULES, *tensor_rules.RULES, *syntax.RULES, *cpp.RULES)
