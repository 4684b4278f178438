"""Punctuation, and Python written where C++ is wanted."""

from grader.feedback.explain.rule import Rule

PYTHON = {"True": "true", "False": "false", "None": "nullptr"}

COUNTERPARTS = {  # of Python's words, in C++
    "str": "A text is a `std::string` in C++.",
    "len": "The length of a tensor is `x.size(0)` along its first dimension, and `x.numel()` counts all elements.",
    "range": "Write the loop out: `for (int i = 0; i < n; i++)`.",
    "enumerate": "Write the loop out: `for (int i = 0; i < n; i++)`.",
    "print": 'Write `printf("%f\\n", x);`.',
    "elif": "Write `else if (condition)`.",
    "import": "Write `#include <...>`, outside of functions.",
    "self": "A C++ function that Python calls has no self: take the parameter away.",
    "pass": "A statement that does nothing is an empty pair of braces.",
    "lambda": "A function without a name is `[=](float x) { return x; }`.",
    "list": "Several numbers are a tensor, or a `std::vector<float>` on the host.",
    "tuple": "Several results are a `std::tuple` or a `std::vector<torch::Tensor>`.",
    "dict": "A table by names is a `std::map`.",
    "isinstance": "C++ knows each type when it compiles; a tensor's dtype is `x.scalar_type()`.",
}

RULES = (
    Rule(
        "unclosed-brace",
        (
            r"a function-definition is not allowed here before '\{' token",
            r"expected '\}' at end of input",
            r"expected a \"\}\"",
            r"function definition is not allowed here",
            r"expected '\}'",
        ),
        "A closing brace } is missing: the compiler took what follows for a part of the function before it.{declared}",
        "Count the braces of that function: each { needs its }.",
        anywhere=True,
    ),
    Rule(
        "help-text",
        (
            r"missing terminating .* @(?:bindings:|main\.cpp: m\.def\()",
            r"\bbindings:\d+: missing terminating",
        ),
        "A help text in functions breaks over two lines, and load_inline puts it between the quotes of a C++ "
        "string, which ends on its line.",
        "Write the help text on one line, without quotes inside.",
        anywhere=True,
    ),
    Rule(
        "open-string",
        (
            r"missing terminating [\"'] character",
            r"missing closing quote",
            r"unterminated argument list invoking macro",
        ),
        "A string in quotes is not closed on its line.",
        'Close the quote, or write \\n for a line break. The source must be a raw Python string, r"""...""", '
        "or Python turns \\n into a real line break before the compiler sees it.",
        anywhere=True,
    ),
    Rule(
        "python-comment",
        (
            r"invalid preprocessing directive #\s?(?P<name>\w+)",
            r"unrecognized preprocessing directive",
            r"invalid preprocessing directive",
        ),
        "A comment begins with #, as in Python; for C++ that is an instruction to the preprocessor.",
        "Begin comments with //.",
    ),
    Rule(
        "python-power",
        (
            r"invalid type argument of unary '\*'",
            r"indirection requires pointer operand",
            r"operand of \"\*\" must be a pointer",
        ),
        "C++ has no ** for powers: it reads x ** 2 as x times what the pointer 2 points to.",
        "Multiply: value * value for a square; powf(value, p) is a power of floats.",
        "03",
    ),
    Rule(
        "python-word",
        (
            r"'(?P<name>True|False|None)' was not declared in this scope",
            r"identifier \"(?P<name>True|False|None)\" is undefined",
            r"use of undeclared identifier '(?P<name>True|False|None)'",
        ),
        "{name} is Python's word; C++ does not know it.",
        "C++ writes true, false and nullptr.",
        fixes={
            "True": "Write `true`.",
            "False": "Write `false`.",
            "None": "A pointer to nothing is `nullptr`; a function that promises a tensor has to return one, as `return out;` does.",
        },
    ),
    Rule(
        "python-for",
        (r" @[^:]*: for\s+\w+\s+in\b.*:\s*$",),
        "This is a loop as Python writes it.",
        "C++ writes for (int64_t i = 0; i < n; i++) { ... }, with braces around what is repeated. In a kernel ask "
        "first whether the threads are the loop already.",
    ),
    Rule(
        "python-if",
        (
            r"expected '\('.* @[^:]*: (?P<name>if|while|elif)\b[^()]*:\s*$",
            r"expected a \"\(\".* @[^:]*: (?P<name>if|while|elif)\b[^()]*:\s*$",
        ),
        "This is {name} as Python writes it; in C++ the condition stands in brackets, and no colon follows.",
        "Write if (i < n) { ... }.",
    ),
    Rule(
        "python-def",
        (
            r"'(?P<name>def)' (?:does not name a type|was not declared)",
            r"unknown type name '(?P<name>def)'",
            r"(?:identifier \"(?P<name>def)\" is undefined|no storage class or type specifier).* @.*\bdef\s",
        ),
        "This is a function as Python writes it; in C++ a type stands before its name and before each parameter.",
        "Write torch::Tensor f(torch::Tensor x, double a) { return x * a; }: types, braces and semicolons.",
    ),
    Rule(
        "python-function",
        (
            r"'(?P<name>len|range|print|elif|import|self|pass|lambda|str|list|dict|tuple|enumerate|isinstance)' (?:was not declared|does not name a type)",
            r"identifier \"(?P<name>len|range|print|elif|import|self|pass|lambda|str|list|dict|tuple|enumerate|isinstance)\" is undefined",
            r"(?:use of undeclared identifier|unknown type name) "
            r"'(?P<name>len|range|print|elif|import|self|pass|lambda|str|list|dict|tuple|enumerate|isinstance)'",
        ),
        "{name} is Python's; C++ does not know it.",
        "C++ writes x.size(0) for len(x), for (int i = 0; i < n; i++) for a range, else if for elif, printf for print "
        "and #include for import.",
        fixes=COUNTERPARTS,
    ),
    Rule(
        "else-without-if",
        (r"'else' without a previous 'if'", r"expected expression before 'else'", r"expected a statement"),
        "An else (or another statement) stands where none may: the if before it has ended already.",
        "Look for a semicolon after the if's closing brace, or for a missing pair of braces.",
    ),
    Rule(
        "unclosed-parenthesis",
        (
            r"expected '\)' before",
            r"expected '\]' before",
            r"expected a \"[)\]]\"",
            r"expected '\)'$",
            r"expected '\]'$",
        ),
        "The compiler expected a bracket to be closed here: one is not, or a comma or an operator is missing.",
        "Count the brackets from the inside out; if all are closed, look for two values with no sign between them.",
    ),
    Rule(
        "missing-semicolon",
        (
            r"expected '[,;]' (?:or '[,;]' )?before",
            r"expected ';' (?:after|before|at end)",
            r"expected a \";\"",
        ),
        "A statement does not end: its semicolon is missing{above}.",
        "End the statement with ; and compile again. If it has one, look at the brackets of that line.",
    ),
    Rule(
        "stray-character",
        (
            r"stray '(?P<name>[^']+)' in program",
            r"unrecognized token",
            r"extended character (?P<name>\S+) is not valid",
        ),
        "The source contains a character that is not C++, often a curly quote or a dash pasted from a web page.",
        "Type the line's quotes, dashes and spaces again.",
    ),
    Rule(
        "unclosed-comment",
        (r"unterminated comment", r"comment unclosed at end of file"),
        "A comment begun with /* is never closed, so everything after it is gone.",
        "End it with */, or use // for single lines.",
    ),
)
