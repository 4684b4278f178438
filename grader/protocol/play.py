"""One call of a submission and of its reference, as referee and players speak of it: one class a step.

A request to play holds the ``side``, "reference" or "submission", and its ``steps``, in order; the answer is
that of the last step. What a step answers is a class here, too, and most answer :class:`Done`. The class is
the type on both sides, and the form that the referee demands of the answer (:func:`.messages.decode`).
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from grader.domain import typed_data
from grader.domain.task import Argument

MOST_TENSORS, MOST_STATE, MOST_TEXT = 2_000, 10_000, 10_000

Text = Annotated[str, Meta(max_length=MOST_TEXT)]
Word = Annotated[str, Meta(max_length=500)]
Count = Annotated[int, Meta(ge=0, lt=1 << 62)]
Dimensions = Annotated[tuple[Count, ...], Meta(max_length=64)]
Seed = Annotated[int, Meta(ge=0, lt=1 << 62)]
Key: TypeAlias = tuple[str, str]  # of a tensor in a model's state: its kind and its name
Variant = Literal["as given", "signs mixed", "scaled down", "scaled up", "zeros"]
Ops = Annotated[
    tuple[tuple[Word, Annotated[tuple[Dimensions, ...], Meta(max_length=100)]], ...], Meta(max_length=200)
]
Work = Annotated[tuple[tuple[Word, Count, Count, int], ...], Meta(max_length=500)]


class _Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """Plain data from a process that may lie. What has no default must be said."""


class Node(_Claim, frozen=True, omit_defaults=True):
    """A nested value as data. One of its fields says what it is, and the others are not set.

    ``t``: tensor of that number; ``v``: a plain value; ``f``: a float by its digits; ``l`` list, ``u`` tuple,
    ``d`` dict as pairs; ``dtype`` and ``device`` by name; ``o``: anything else, which cannot travel, by the
    name of its type.
    """

    t: Count | UnsetType = UNSET
    v: bool | int | Text | UnsetType | None = UNSET
    f: Annotated[str, Meta(max_length=40)] | UnsetType = UNSET
    l: Annotated[tuple[Node, ...], Meta(max_length=MOST_TENSORS)] | UnsetType = UNSET  # noqa: E741
    u: Annotated[tuple[Node, ...], Meta(max_length=MOST_TENSORS)] | UnsetType = UNSET
    d: Annotated[tuple[tuple[Node, Node], ...], Meta(max_length=MOST_TENSORS)] | UnsetType = UNSET
    dtype: Word | UnsetType = UNSET
    device: Word | UnsetType = UNSET
    o: Word | UnsetType = UNSET

    @property
    def kind(self) -> str:
        """The name of the field that is set; "" if that is not exactly one."""
        found = [name for name in self.__struct_fields__ if getattr(self, name) is not UNSET]
        return found[0] if len(found) == 1 else ""

    @property
    def parts(self) -> tuple[Node, ...]:
        """What is in a list, a tuple or a dict, its keys among them."""
        if isinstance(self.d, tuple):
            return tuple(part for pair in self.d for part in pair)
        return self.l if isinstance(self.l, tuple) else self.u if isinstance(self.u, tuple) else ()


EMPTY = Node(l=())


def plain_node(value: Any) -> Node:
    """A value without tensors as data."""
    if value is None or isinstance(value, bool | int | str):
        return Node(v=value if not isinstance(value, str) else value[:MOST_TEXT])
    if isinstance(value, float):
        return Node(f=repr(float(value)))
    if isinstance(value, tuple):
        return Node(u=tuple(plain_node(v) for v in value))
    if isinstance(value, list):
        return Node(l=tuple(plain_node(v) for v in value))
    return Node(o=type(value).__name__)


class InputForm(_Claim, frozen=True):
    """How an input lies in memory. Strides, the number of ``elements`` and ``start`` count elements.

    ``start``: of the view in its storage, as far as it decides how the view is aligned; ``elements``: of the
    storage from its beginning to the last that the view reaches.
    """

    shape: Dimensions
    strides: tuple[int, ...]
    dtype: Word
    elements: Count
    start: Count = 0
    device: Literal["cuda", "cpu"] = "cuda"


class StateTensor(_Claim, frozen=True):
    """A tensor that a model holds."""

    kind: Literal["parameter", "buffer", "attribute"]
    name: Word
    shape: Dimensions
    dtype: Word


class ResultForm(_Claim, frozen=True, omit_defaults=True):
    """A tensor of a result. ``plain``: it holds its values, and is no class that computes them when read.

    ``turned``: its elements do not lie one behind another in the order of its dimensions. Of a reference
    also whether all elements are one value (``constant``), and whether all are ``finite``.
    """

    shape: Dimensions
    dtype: Word
    device: Word
    type: Word
    plain: bool
    turned: bool = False
    constant: bool = False
    finite: bool = True


class Piece(Struct, frozen=True, array_like=True):
    """Elements ``lo`` to ``hi`` of the line that ``what`` and ``key`` name, at byte ``at`` of shared memory.

    ``dtype``: in which they lie there, where that may be another than the line's.
    """

    what: str
    key: int | Key
    lo: int
    hi: int
    at: int
    dtype: str = ""


# What both sides do.


def _snake(name: str) -> str:
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


class _Step(Struct, frozen=True, tag_field="step", tag=_snake, omit_defaults=True):
    """A step of one side."""


class Room(_Step, frozen=True):
    """Make room for tensors of these forms, to be filled by pieces; what was there before is gone.

    ``what``: the "inputs" of a call, the arguments that a model is made with ("init"), all inputs of timed
    calls ("sets"), or what the other side is said to hold, for a comparison ("claimed").
    """

    what: Literal["inputs", "init", "sets", "claimed"]
    forms: tuple[InputForm, ...]


class Share(_Step, frozen=True):
    """Share memory of the device with another player, under this ``number``: the host is spared the bytes.

    The reference's makes it, and its answer comes with a file; the submission's is to ``open`` that file.
    """

    number: int
    nbytes: int
    open: bool = False


class Read(_Step, frozen=True):
    """Write pieces into the outbox, or into the shared memory of the device with the number ``there``."""

    pieces: tuple[Piece, ...]
    there: int = 0


class Write(_Step, frozen=True):
    """Take pieces from the inbox, or from the shared memory of the device with the number ``there``."""

    pieces: tuple[Piece, ...]
    there: int = 0


class DrawWeights(_Step, frozen=True):
    """Draw values for these tensors of the model's state: normal, each times its scale.

    Two processes on one GPU draw the same from one seed.
    """

    seed: Seed
    scales: tuple[tuple[Key, float], ...]


# What the submission's side does.


class Make(_Step, frozen=True):
    """Make the model with these arguments, or take the function, that is to be called. Answers :class:`Made`.

    ``mode``: "train", "eval", or "" as it was constructed. ``single``: all inputs of a call are one argument.
    ``attributes``: tensors that are plain attributes of modules belong to the model's state. ``gradients``: a
    call's last tensor is the gradient of its result, and the results are followed by the gradients.
    """

    entry: str
    init: Node
    seed: Seed
    mode: str
    kind: Literal["model", "function", ""] = ""
    single: bool = False
    attributes: bool = True
    gradients: bool = False


class Made(_Claim, frozen=True):
    """The model's state. ``uncompiled``: torch.compile was left out, as there is no GPU."""

    state: Annotated[tuple[StateTensor, ...], Meta(max_length=MOST_STATE)]
    uncompiled: bool = False


class Take(_Step, frozen=True):
    """Get ready for new inputs: in new memory if ``fresh``, else into the tensors of the call before."""

    tree: Node
    forms: tuple[InputForm, ...]
    fresh: bool


class Move(_Step, frozen=True):
    """Give these tensors of the state new memory; their values come afterwards."""

    keys: tuple[Key, ...]


class Call(_Step, frozen=True):
    """Call once. Answers :class:`Returned`.

    ``how`` the inputs come about, as in a round of the referee. ``keep`` the results of the call before for
    another look. ``sizes``: elements of each result that is expected. ``watch``: tell which operators and
    kernels ran, and where values came from; then ``products`` by torch are as good as inputs, and torch may
    prepare inputs and weights of the shapes ``prepared``. ``weigh``: what torch's operators moved and
    computed. ``followed``: by calls with inputs of earlier forms, before anything waits for the device; what
    these return is dropped.
    """

    how: Literal["new", "refill", "swap", "move", "keep"] = "new"
    seed: Seed = 0
    keep: bool = False
    sizes: tuple[int, ...] = ()
    watch: bool = False
    weigh: bool = False
    products: bool = False
    prepared: tuple[Dimensions, ...] = ()
    followed: bool = False


class CallApart(_Step, frozen=True):
    """Call once while another stream than the default one is the current one. Answers :class:`ReturnedApart`.

    ``hold_s``: on a GPU the default stream is held back for so many seconds, so that what is queued there
    comes too late; 0: it is not, and the kernels that run there are told. ``sizes``: elements of each result
    that is expected.
    """

    seed: Seed
    hold_s: float = 0.0
    sizes: tuple[int, ...] = ()


class Told(_Claim, frozen=True, array_like=True):
    """One thing that the host told the device, in words of 32 bits; places in device memory are relative.

    ``by_torch``: an operator of torch computed these numbers, and kernels read some.
    """

    what: Word
    words: Annotated[tuple[Count, ...], Meta(max_length=1 << 18)]
    by_torch: Literal[0, 1] = 0


class Watched(_Claim, frozen=True):
    """torch's operators with the shapes of their tensors, and on a GPU the names of the kernels that ran.

    On the CPU back end, ``elsewhere``: who else than a kernel wrote what kernels read in this call, and how
    many bytes of it; for each result in ``foreign`` how many elements, and which first, hold what no kernel
    left; and what the host ``told`` the device. ``interpreted``: how many kernels of Triton and numba were
    launched, which no device runs there.
    """

    ops: Ops = ()
    elsewhere: Annotated[tuple[tuple[Word, Count], ...], Meta(max_length=300)] | None = None
    foreign: Annotated[tuple[tuple[Count, Count], ...], Meta(max_length=MOST_TENSORS)] = ()
    told: Annotated[tuple[Told, ...], Meta(max_length=1 << 17)] | None = None
    kernels: Annotated[tuple[Word, ...], Meta(max_length=200)] | None = None
    interpreted: Count = 0


class Returned(_Claim, frozen=True):
    """What a call returned: containers and plain values as ``tree``, its tensors described in ``tensors``."""

    tree: Node
    tensors: Annotated[tuple[ResultForm, ...], Meta(max_length=MOST_TENSORS)] = ()
    watched: Watched = Watched()
    work: Work = ()


class ReturnedApart(Returned, frozen=True, kw_only=True):
    """What a call returned whose results were copied on the stream that was the current one.

    ``launched``: the default stream was held back until the call had returned, and ``copied``: until the
    copies were made, ``seconds`` after the call began. ``on_default``: kernels that ran on the default one.
    """

    launched: bool = False
    copied: bool = False
    seconds: Annotated[float, Meta(ge=0, lt=1e6)] = 0.0
    on_default: Annotated[tuple[Word, ...], Meta(max_length=200)] = ()


# What the reference's side does.


class Measure(_Step, frozen=True):
    """How large the problem is, without any of its memory. Answers :class:`Measured`.

    ``small``: bytes of inputs and state up to which nobody wants those of the results, which take a second.
    """

    entry: str
    small: int = 0


class Measured(_Claim, frozen=True, omit_defaults=True):
    """Bytes, and the ``batch``, as far as they can be known; 0 otherwise."""

    inputs: Count = 0
    state: Count = 0
    outputs: Count = 0
    batch: Count = 0


class Begin(_Step, frozen=True):
    """Make the reference's model, or take its function. Answers :class:`Begun`.

    ``init``: the constructor's arguments, None: what ``get_init_inputs()`` gives. ``specs``: keyword
    arguments of ``generate_input``, for a problem in that form. ``there``: make its tensors on the GPU.
    ``gradients``: as in :class:`Make`.
    """

    entry: str
    seed: Seed
    mode: str
    kind: Literal["model", "function", ""] = ""
    specs: tuple[dict[str, Any], ...] = ()
    init: Node | None = None
    attributes: bool = True
    there: bool = False
    gradients: bool = False


class Begun(_Claim, frozen=True):
    """What the model was made with (``forms`` of the tensors in it), and what it holds."""

    init: Node
    forms: tuple[InputForm, ...]
    state: tuple[StateTensor, ...]
    training: bool


class Weights(_Step, frozen=True):
    """Make the model anew; what is one constant among these tensors gets other values."""

    seed: Seed
    names: tuple[str, ...]
    mode: str


class Draw(_Step, frozen=True):
    """New inputs. Answers :class:`Inputs`.

    ``arguments``: drawn as they say. Else the file's own function draws them, with the ``spec`` of that
    number if there are some, and ``variant`` changes them.
    """

    seed: Seed
    variant: Variant = "as given"
    spec: int = 0
    arguments: tuple[Argument, ...] | None = None


class Swap(_Step, frozen=True):
    """Exchange the largest and the smallest element of each input. Answers :class:`Inputs`."""


class Inputs(_Claim, frozen=True):
    """The inputs of a call. ``applies``: the variant changes something of them."""

    tree: Node
    forms: tuple[InputForm, ...]
    applies: bool = True


class Answer(_Step, frozen=True):
    """Compute the answers for the inputs as they are, in their own dtype and in float64: :class:`Answered`.

    ``budget``: bytes that float64 may take at a time; beyond it answers come in blocks of the batch, or at
    once in up to ``room`` bytes where that cannot be. ``native``: not in float64, which would draw other
    random numbers. ``weigh``: tell what torch's operators moved and computed, and whether they draw.
    """

    seed: Seed
    budget: int
    room: int = 0
    native: bool = False
    weigh: bool = False


class Answered(Returned, frozen=True, kw_only=True):
    """What the reference returned.

    ``blocks``: in how many blocks the float64 answers come; the ``dtypes`` of a single one. ``native``: why
    there are none in float64, or "". ``changed``: inputs, and ``state``: tensors of the model, that the call
    wrote to. ``same``: results are those of the answer before. ``random``: what the seed does to the results,
    "" nothing, "seeded" it settles them, else "free". ``elements``: made by other operators than products.
    ``reach``: the size of the largest finite number among inputs, weights and other tensors of the model.
    """

    blocks: Count
    dtypes: tuple[Word, ...] = ()
    native: Text = ""
    changed: tuple[Count, ...] = ()
    state: tuple[Key, ...] = ()
    same: bool = False
    random: str = ""
    elements: Count = 0
    reach: float = 0.0


class Block(_Step, frozen=True):
    """Have the float64 answers of one block ready. Answers :class:`Ranges`."""

    number: int


class Ranges(_Claim, frozen=True):
    """Which elements of each result a block has, and in which dtype."""

    ranges: tuple[tuple[Count, Count], ...]
    dtypes: tuple[Word, ...]


class Fair(Struct, frozen=True):
    """What error is fair, as the referee's class of that name says, which has these fields."""

    eps: float
    largest: float
    tiny: float
    factor: float
    ulps: float
    relative: float
    small: float = 0.0


class Compare(_Step, frozen=True):
    """Compare elements ``lo`` to ``hi`` of a result with what was claimed of them: :class:`Agreement`.

    The answers of its block begin at element ``base``. Each ``window`` elements are judged together, by
    ``fair``; None: exactly. ``look``: tell what else would be right.
    """

    output: int
    lo: int
    hi: int
    base: int
    window: int
    fair: Fair | None
    look: bool = False


class Same(_Step, frozen=True):
    """Whether these pieces of lines have the bits that were claimed of each: :class:`Agreement`."""

    pieces: tuple[Piece, ...]


class Agreement(_Claim, frozen=True):
    """Whether what was claimed is right, for each window or piece.

    If it was looked for: whether zeros would be right everywhere, and in ``slack`` the error that is allowed,
    as a part of the largest answer, of the window where that is least.
    """

    good: tuple[bool, ...]
    zeros_pass: bool = False
    slack: float | None = None


class Nudge(_Step, frozen=True):
    """Call the reference once more, with inputs that differ by one part in the last place.

    ``call``: the seed of random numbers that the call draws.
    """

    seed: Seed
    call: Seed


class Magnified(Compare, frozen=True):
    """How far from the answers what was claimed lies, and what the nudged call gave: :class:`Distances`."""


class Distances(_Claim, frozen=True):
    """The largest differences from the answers: of what was ``claimed``, and of the ``nudged`` results.

    Where one is not finite and the other is, the difference is the largest that a float holds. ``missed``:
    the nudged results would be called wrong.
    """

    missed: bool
    claimed: Annotated[float, Meta(ge=0)]
    nudged: Annotated[float, Meta(ge=0)]


class Judge(_Step, frozen=True):
    """Have the file's own ``check_implementation`` look at a result that lies in "init": :class:`Opinion`."""

    tree: Node


class Opinion(_Claim, frozen=True):
    """What the file's own check says."""

    good: bool
    why: Text = ""


class Done(_Claim, frozen=True):
    """Nothing to say."""


Step: TypeAlias = (
    Room | Share | Read | Write | DrawWeights | Make | Take | Move | Call | CallApart
    | Measure | Begin | Weights | Draw | Swap | Answer | Block | Compare | Same | Nudge
    | Magnified | Judge
)  # fmt: skip
Steps = tuple[Step, ...]


def steps(request: object) -> Steps:
    """The steps of a request, as the player gets them."""
    return typed_data.convert(request, Steps)


def name_of(step: Step) -> str:
    """What a step is called on the wire."""
    return str(step.__struct_config__.tag)
