module
public import Headway.Control
public import Headway.Epoch
public import Headway.Certificate
@[expose] public noncomputable section

/-!
# Negative controls for rules: what goes wrong if one is a little different

File `Counterexamples` has variants of the compiler; here are those of the rules by which waits are judged: what is known, what an assertion or a
certificate keeps, what an epoch may hold. Each has a small program with the numbers that go wrong, computed by the kernel.
`Test/mutations.json` makes the same changes to the definitions, where a proof must fail then.
-/

set_option autoImplicit false

namespace Headway.Rules

/-- Instruction `i` of engine `e`, which signals a counter of its own. -/
def act (e i : Nat) : Instance Nat Nat := ⟨i, e, some e, []⟩

/-- Dependences between instructions. -/
def depends (pairs : List (Nat × Nat)) : DepRel Nat Nat := fun p c => pairs.contains (p.instr, c.instr)

/-! ## A wait lends more than it has -/

/-- 1 waits for the first of two signals and needs the second. If the wait lent one more, that would do. -/
theorem wait_lends_more_is_too_early : required (depends [(1, 2)]) [act 0 0, act 0 1] (act 1 2) 0 = 2 ∧
    ¬ Respects (depends [(1, 2)]) [act 0 0, act 0 1, act 1 2]
      [.issue (act 0 0), .issue (act 0 1), .complete 0, .issue (act 1 2)] := by
  refine ⟨by decide, ?_⟩
  have := too_early_incorrect (depends [(1, 2)]) (T := [act 0 0, act 0 1, act 1 2]) (pre := [act 0 0, act 0 1]) (post := [])
    (c := act 1 2) (q := 0) (x := [.issue (act 0 0), .issue (act 0 1), .complete 0]) (y := []) rfl rfl (by decide)
  simpa using this

/-! ## A signal tells more than the instance behind it knew -/

def handedOn : DepRel Nat Nat := depends [(0, 1), (1, 3), (2, 3)]

/-- 1 has waited for the first signal of 0, and 2 waits for 1: that tells of one signal of 0, and 2 needs two. -/
theorem signal_tells_more_is_too_early :
    (ledger [0, 1, 2] handedOn [act 0 0, act 1 1, act 0 2]).signal 1 1 0 = 1 ∧
    required handedOn [act 0 0, act 1 1, act 0 2] (act 2 3) 0 = 2 ∧
    ¬ Respects handedOn [act 0 0, act 1 1, act 0 2, act 2 3]
      [.issue (act 0 0), .complete 0, .issue (act 1 1), .complete 1, .issue (act 0 2), .issue (act 2 3)] := by
  refine ⟨by decide, by decide, ?_⟩
  have := too_early_incorrect handedOn (T := [act 0 0, act 1 1, act 0 2, act 2 3]) (pre := [act 0 0, act 1 1, act 0 2])
    (post := []) (c := act 2 3) (q := 0)
    (x := [.issue (act 0 0), .complete 0, .issue (act 1 1), .complete 1, .issue (act 0 2)]) (y := []) rfl rfl (by decide)
  simpa using this

/-! ## A control read that sees later writes -/

/-- Instruction 1 writes 5. -/
def writesFive : Meaning Nat Nat Unit Nat where
  effect := fun c _ _ => if c.instr = 1 then some 5 else none
  reads := fun _ _ => false
  writes := fun c _ => c.instr == 1
  depends_on_reads := fun _ _ _ _ => rfl
  writes_only := fun c _ _ h => by simp at h; simp [h]

/-- The value is read before the write: it is 0, and not the 5 of the end. -/
theorem later_write_is_wrong : sequentialMemory writesFive (fun _ => 0) [] () = 0 ∧
    sequentialMemory writesFive (fun _ => 0) [act 0 0, act 0 1] () = 5 := by decide

/-! ## An epoch with as many signals as a semaphore has values -/

/-- Two signals on a semaphore of two values: it never shows the 2 that is waited for. -/
theorem full_epoch_stalls :
    (epochStreams (depends [(1, 2)]) [some (act 0 0), some (act 0 1), some (act 1 2)] 1).map (fun x => x.2.1 0 - x.2.2 0) = [2] ∧
    (∀ n, n ≤ 2 → ¬ 2 ≤ n % 2) ∧ signals 0 [act 0 0, act 0 1, act 1 2] = 2 := by decide

/-! ## Thresholds that are not counted from the barrier -/

/-- In the second epoch the semaphore counts to 1, and 2 would be waited for. -/
theorem not_reset_stalls :
    let l := [some (act 0 0), some (act 1 1), none, some (act 0 0), some (act 1 1)]
    (epochStreams (depends [(0, 1)]) l 1).map (fun x => (sinceBarrier x).2 0) = [1, 1] ∧
    (epochStreams (depends [(0, 1)]) l 1).map (fun x => x.2.1 0) = [1, 2] := by decide

/-! ## An assertion of a loop that does not turn -/

/-- That the turn is the first would be kept by every turn, and false after two. -/
theorem assertion_without_turns_is_wrong : ∃ H : Nat → Assertion Nat Nat, H 0 [] [] ∧
    (∀ j v pre, H j v pre → H j v (pre ++ [act 0 0])) ∧ ¬ H 2 [] [act 0 0, act 0 0] :=
  ⟨fun j _ _ => j = 0, rfl, fun _ _ _ h => h, by decide⟩

/-! ## Rules of a certificate -/

/-- The accesses of counter 0 to a slot that instructions 0 and 1 write. -/
def written : Mark Nat Nat := ⟨0, fun c => c.instr == 0 || c.instr == 1⟩

/-- Engine 1 has waited for the first write. After the second one it does not know the slot to be complete, and reading it is early. -/
theorem moved_mark_is_not_known :
    ¬ (((Facts.beginning.issued [] (act 0 0)).waited 1 0 1).issued [act 0 0] (act 0 1)).known 1 written ∧
    ¬ Respects (depends [(0, 2), (1, 2)]) [act 0 0, act 0 1, act 1 2]
      [.issue (act 0 0), .complete 0, .issue (act 0 1), .issue (act 1 2)] := by
  constructor
  · intro h
    exact h.2 ⟨rfl, rfl⟩
  · have := too_early_incorrect (depends [(0, 2), (1, 2)]) (T := [act 0 0, act 0 1, act 1 2]) (pre := [act 0 0, act 0 1])
      (post := []) (c := act 1 2) (q := 0) (x := [.issue (act 0 0), .complete 0, .issue (act 0 1)]) (y := []) rfl rfl (by decide)
    simpa using this

/-- 0 waits for 2 between its two instructions. Its first signal does not tell that, though the second one does. -/
theorem earlier_signal_does_not_tell :
    ¬ Respects (depends [(0, 2), (0, 3)]) [act 2 0, act 0 1, act 0 2, act 1 3]
      [.issue (act 2 0), .issue (act 0 1), .complete 0, .issue (act 1 3)] := by
  have := too_early_incorrect (depends [(0, 2), (0, 3)]) (T := [act 2 0, act 0 1, act 0 2, act 1 3])
    (pre := [act 2 0, act 0 1, act 0 2]) (post := []) (c := act 1 3) (q := 2)
    (x := [.issue (act 2 0), .issue (act 0 1), .complete 0]) (y := []) rfl rfl (by decide)
  simpa using this

/-- Two engines, each of which waits for the first signal of the other. -/
def eachOther : List (Move Nat Nat) := [.wait 0 1 1, .issue (act 0 0), .wait 1 0 1, .issue (act 1 1)]

/-- The first wait asks for a signal that comes later. Nothing can ever happen. -/
theorem wait_for_the_future_deadlocks :
    ¬ Right (depends []) [] (Move.wait 0 1 1) ∧
    ∀ a s, ¬ GuardedStep (streamsOf (placement eachOther)) .zero (some a) s := by
  refine ⟨by simp [Right, issues], ?_⟩
  intro a s h
  cases h with
  | complete q h => simp [Counts.zero] at h
  | issue e c g hw he hg =>
    by_cases h0 : e = 0
    · subst h0
      have : g = threshold [(1, 1)] := by
        simp [streamsOf, placement, annotate, eachOther, act, Counts.zero, update] at hw
        exact hw.2.symm
      have := hg 1
      simp_all [threshold, Counts.zero]
    · by_cases h1 : e = 1
      · subst h1
        have : g = threshold [(0, 1)] := by
          simp [streamsOf, placement, annotate, eachOther, act, Counts.zero, update] at hw
          exact hw.2.symm
        have := hg 0
        simp_all [threshold, Counts.zero]
      · have h0' : ¬ 0 = e := fun h => h0 h.symm
        have h1' : ¬ 1 = e := fun h => h1 h.symm
        simp [streamsOf, placement, annotate, eachOther, act, h0', h1'] at hw

end Headway.Rules
end
