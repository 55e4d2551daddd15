"""Assembly text is read back as it was; what is wrong in it is said with its place."""

import pytest

from headway import kernels, synchronize
from headway.check.generate import Shape, generate
from headway.errors import HeadwayError
from headway.isa import assemble, disassemble, lower

FEW = ("sync-chain", "matmul", "moe-while", "topk")

TEXT = """\
module @small strategy manual target trn2
semaphore 0 counts vector width 32 signed
semaphore 1 flag f from vector to vector holds 2
semaphore 2 meets
semaphore 3 meets
engine vector registers 4
  load.f   r0, n         # an input
  load.f   r3, m[r0]
  enter    r1, r0, out
in:
  sub      r2, r1, -1
  get.f    r3, r2[0], 1
  put.f    r2[0], 5, 1
  exec     add(i r1), wait s0 >= r1 - 3, post s0
  set      s1, vector
  take     s1
  next     r1, r0, in
out:
  if.lt    r0, 1, end
  drain    vector
  meet     s2
  clear    s0, 1
  meet     s3
end:
  halt
program @small {
  input n
  input m[]
  engine vector pipelined
  loop i n {
    vector add takes(10)
  }
}
"""


def test_text_of_every_instruction_is_read_and_written():
    module = assemble(TEXT)
    text = disassemble(module)
    for line in TEXT.split("engine vector registers 4")[0].splitlines():
        assert line in text
    assert "exec     add(i r1), wait s0 >= r1 - 3, post s0" in text
    assert assemble(text) == module


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["counted", "barrier", "flags"])
@pytest.mark.parametrize("kernel", FEW)
def test_kernel_is_read_back(kernel: str, strategy: str):
    module = lower(synchronize(kernels.load(kernel).program(), "trn2", strategy))
    assert assemble(disassemble(module)) == module


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_random_program_is_read_back(seed: int):
    case = generate(seed, Shape(control_in_memory=True))
    for strategy in ("scoreboard", "barrier", "flags"):
        module = lower(synchronize(case.program, "generic", strategy))
        assert assemble(disassemble(module)) == module


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sub ", "sbu ", "there is no instruction 'sbu'"),
        ("r1, r0, out", "r1, r0, far", "there is no label 'far' in the stream of vector"),
        ("r1, r0, out", "r1, r0", "expected ',', found 'the end of the line'"),
        ("r1, -1", "r1, 99999999999", "expected a register or a number, -2147483648 to"),
        ("r1, -1", "r1, -1, 2", "',' is one word too many"),
        ("meet     s2", "meet     r2", "expected a semaphore such as s0, found 'r2'"),
        ("  set ", "  set.f ", "'set' serves no other instruction"),
        ("in:", "out:", "label 'out' is there twice"),
        ("module @small", "module @other", "the module is called @other, and its program @small"),
        ("registers 4", "registers 2", "there is no register 2: vector has 2"),
        ("add(i r1)", "sum(i r1)", "vector has no instruction 'sum'"),
        ("post s0", "post s1", "'add' posts semaphore 1, which is not that of its counter"),
        ("  halt\n", "  jump in\nlast:\n  drain vector\n", "the stream runs past its end"),
        ("load.f   r3, m[r0]", "load.f   r3, m", "there is no input 'm' of that kind"),
        ("take     s1", "take     s0", "semaphore 0 holds no tokens"),
        ("wait s0", "wait s1", "semaphore 1 holds no counter"),
        ("clear    s0, 1", "clear    s0, 2", "it resets a semaphore that holds no counter"),
        ("  drain    vector\n", "", "the barrier at instruction 11 is not whole"),
        ("  meet     s2\n", "", "the barrier at instruction 11 is not whole"),
        ("  clear    s0, 1\n", "", "semaphores are reset at barriers by: nobody"),
        ("  meet     s2\n", "end:\n  meet     s2\n", "label 'end' is there twice"),
    ],
)
def test_wrong_text_is_refused(old: str, new: str, message: str):
    assert old in TEXT
    with pytest.raises(HeadwayError) as refused:
        assemble(TEXT.replace(old, new, 1))
    assert message in str(refused.value)


def test_place_in_the_program_is_that_in_the_file():
    with pytest.raises(HeadwayError) as refused:
        assemble(TEXT.replace("vector add takes", "vector add tokes"), "small.s")
    assert str(refused.value).startswith("small.s:31:21: error")
