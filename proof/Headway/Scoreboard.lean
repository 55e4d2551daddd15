module
public import Headway.Optimize
@[expose] public noncomputable section

/-!
# The scoreboard: from reads and writes to dependences

`Accesses` says which slots of which buffers each instruction reads and writes. Two instances conflict if they access the same
slot of the same buffer and one of them writes it (read after write, write after read, write after write).

`scoreboard A P` is the static description behind the strategy `scoreboard`: a capture register for each counter, buffer, kind of access
(last write, or last access at all) and slot. `scoreboard_rel`: it stands for exactly the conflicts of the program, in every run,
for rotating buffers, zero trips and branches alike.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- Buffers and slots that each instruction reads and writes. A buffer here is a set of slots that no other buffer
overlaps: where accesses overlap in part, the tool first splits buffers at all boundaries. -/
structure Accesses where
  reads : Nat → List (Nat × Slot)
  writes : Nat → List (Nat × Slot)

/-- The buffers and slot numbers of an access list in the iteration `v`. -/
def cells (l : List (Nat × Slot)) (v : List Nat) : List (Nat × Nat) := l.map (fun a => (a.1, a.2.eval v))

/-- `p` writes what `c` accesses, or accesses what `c` writes. -/
def Accesses.conflict (A : Accesses) (p c : Instance E Q) : Bool :=
  (cells (A.writes p.instr) p.iteration).any (fun x =>
    (cells (A.reads c.instr) c.iteration).contains x || (cells (A.writes c.instr) c.iteration).contains x) ||
  (cells (A.reads p.instr) p.iteration).any (fun x => (cells (A.writes c.instr) c.iteration).contains x)

/-- The dependences: conflicts with instances whose completion is signalled. -/
def Accesses.depends (A : Accesses) : DepRel E Q := fun p c => p.counter.isSome && A.conflict p c

/-- Counters of a program. -/
def Program.counters : Program E Q → List Q
  | .skip => []
  | .instr _ _ q => q.toList
  | .seq a b => a.counters ++ b.counters
  | .branch _ a b => a.counters ++ b.counters
  | .loop _ s => s.counters

/-- Key of the last write, and of the last access, of a buffer. -/
def writeKey (b : Nat) : Nat := 2 * b
def accessKey (b : Nat) : Nat := 2 * b + 1

/-- The static description: each access is captured under the key "access", each write also under the key "write"; a
read waits for the last write, a write for the last access, on every counter. `whole b`: buffer `b` has one slot. -/
def scoreboard (A : Accesses) (whole : Nat → Bool) (P : Program E Q) : Deps Q where
  touches := fun i =>
    (A.reads i).map (fun a => (accessKey a.1, a.2)) ++
    (A.writes i).map (fun a => (writeKey a.1, a.2)) ++ (A.writes i).map (fun a => (accessKey a.1, a.2))
  needs := fun i => P.counters.flatMap (fun q =>
    (A.reads i).map (fun a => ⟨q, writeKey a.1, a.2, whole a.1⟩) ++
    (A.writes i).map (fun a => ⟨q, accessKey a.1, a.2, whole a.1⟩))

/-- Buffers marked `whole` are only ever accessed in slot 0. -/
def Accesses.WholeValid (A : Accesses) (whole : Nat → Bool) : Prop :=
  ∀ i, ∀ a, a ∈ A.reads i ∨ a ∈ A.writes i → whole a.1 = true → a.2 = .const 0

theorem mem_unroll_counter (ω : Control) (s : Program E Q) (v : List Nat) (x : Instance E Q) (q : Q)
    (h : x ∈ unroll ω s v) (hq : x.counter = some q) : q ∈ s.counters := by
  induction s generalizing v with
  | skip => simp [unroll] at h
  | instr i e p => simp [unroll] at h; subst h; simp only at hq; simp [Program.counters, hq]
  | seq a b iha ihb =>
    simp only [unroll, List.mem_append] at h
    simp only [Program.counters, List.mem_append]
    exact h.elim (fun h => .inl (iha v h)) (fun h => .inr (ihb v h))
  | branch k a b iha ihb =>
    simp only [unroll] at h
    simp only [Program.counters, List.mem_append]
    split at h
    · exact .inr (ihb v h)
    · exact .inl (iha v h)
  | loop k s ih =>
    obtain ⟨i, hi⟩ := mem_iterate _ _ _ _ h
    exact ih _ hi

theorem mem_cells {l : List (Nat × Slot)} {v : List Nat} {b s : Nat} :
    (b, s) ∈ cells l v ↔ ∃ a ∈ l, a.1 = b ∧ a.2.eval v = s := by
  simp only [cells, List.mem_map, Prod.mk.injEq]

theorem touched_write (A : Accesses) (whole : Nat → Bool) (P : Program E Q) (b s : Nat) (p : Instance E Q) :
    (scoreboard A whole P).touched (writeKey b) s p = true ↔ (b, s) ∈ cells (A.writes p.instr) p.iteration := by
  simp only [Deps.touched, hits, scoreboard, List.any_append, List.any_map, Bool.or_eq_true, List.any_eq_true,
    Function.comp, Bool.and_eq_true, decide_eq_true_eq, mem_cells, writeKey, accessKey]
  constructor
  · rintro ((⟨a, h1, h2, h3⟩ | ⟨a, h1, h2, h3⟩) | ⟨a, h1, h2, h3⟩)
    · omega
    · exact ⟨a, h1, by omega, h3⟩
    · omega
  · rintro ⟨a, h1, h2, h3⟩; exact .inl (.inr ⟨a, h1, by omega, h3⟩)

theorem touched_access (A : Accesses) (whole : Nat → Bool) (P : Program E Q) (b s : Nat) (p : Instance E Q) :
    (scoreboard A whole P).touched (accessKey b) s p = true ↔
      (b, s) ∈ cells (A.reads p.instr) p.iteration ∨ (b, s) ∈ cells (A.writes p.instr) p.iteration := by
  simp only [Deps.touched, hits, scoreboard, List.any_append, List.any_map, Bool.or_eq_true, List.any_eq_true,
    Function.comp, Bool.and_eq_true, decide_eq_true_eq, mem_cells, writeKey, accessKey]
  constructor
  · rintro ((⟨a, h1, h2, h3⟩ | ⟨a, h1, h2, h3⟩) | ⟨a, h1, h2, h3⟩)
    · exact .inl ⟨a, h1, by omega, h3⟩
    · omega
    · exact .inr ⟨a, h1, by omega, h3⟩
  · rintro (⟨a, h1, h2, h3⟩ | ⟨a, h1, h2, h3⟩)
    · exact .inl (.inl ⟨a, h1, by omega, h3⟩)
    · exact .inr ⟨a, h1, by omega, h3⟩

/-- On the instances of the program the scoreboard stands for exactly the conflicts. -/
theorem scoreboard_rel (A : Accesses) (whole : Nat → Bool) (P : Program E Q) (ω : Control) (p c : Instance E Q)
    (hp : p ∈ unroll ω P []) : (scoreboard A whole P).rel p c = A.depends p c := by
  rw [Bool.eq_iff_iff]
  cases hq : p.counter with
  | none => simp [Deps.rel, Accesses.depends, hq]
  | some q =>
    have hmem := mem_unroll_counter ω P [] p q hp hq
    simp only [Deps.rel, Accesses.depends, Accesses.conflict, hq, List.any_eq_true, Bool.and_eq_true,
      decide_eq_true_eq, Option.isSome_some, true_and, Bool.or_eq_true, List.contains_iff_mem, Prod.exists]
    constructor
    · rintro ⟨n, h1, h2, h3⟩
      simp only [scoreboard, List.mem_flatMap, List.mem_append, List.mem_map] at h1
      obtain ⟨q', _, (⟨a, ha, rfl⟩ | ⟨a, ha, rfl⟩)⟩ := h1
      · exact .inl ⟨a.1, _, (touched_write ..).mp h3, .inl (mem_cells.mpr ⟨a, ha, rfl, rfl⟩)⟩
      · rcases (touched_access ..).mp h3 with h | h
        · exact .inr ⟨a.1, _, h, mem_cells.mpr ⟨a, ha, rfl, rfl⟩⟩
        · exact .inl ⟨a.1, _, h, .inr (mem_cells.mpr ⟨a, ha, rfl, rfl⟩)⟩
    · have read : ∀ b s, (b, s) ∈ cells (A.writes p.instr) p.iteration →
          (b, s) ∈ cells (A.reads c.instr) c.iteration →
          ∃ n ∈ (scoreboard A whole P).needs c.instr, some q = some n.counter ∧
            (scoreboard A whole P).touched n.key (n.slot.eval c.iteration) p = true := by
        intro b s h1 h2
        obtain ⟨a, ha, rfl, rfl⟩ := mem_cells.mp h2
        refine ⟨⟨q, writeKey a.1, a.2, whole a.1⟩, ?_, rfl, (touched_write ..).mpr h1⟩
        simp only [scoreboard, List.mem_flatMap, List.mem_append, List.mem_map]
        exact ⟨q, hmem, .inl ⟨a, ha, rfl⟩⟩
      have write : ∀ b s, ((b, s) ∈ cells (A.reads p.instr) p.iteration ∨
          (b, s) ∈ cells (A.writes p.instr) p.iteration) → (b, s) ∈ cells (A.writes c.instr) c.iteration →
          ∃ n ∈ (scoreboard A whole P).needs c.instr, some q = some n.counter ∧
            (scoreboard A whole P).touched n.key (n.slot.eval c.iteration) p = true := by
        intro b s h1 h2
        obtain ⟨a, ha, rfl, rfl⟩ := mem_cells.mp h2
        refine ⟨⟨q, accessKey a.1, a.2, whole a.1⟩, ?_, rfl, (touched_access ..).mpr h1⟩
        simp only [scoreboard, List.mem_flatMap, List.mem_append, List.mem_map]
        exact ⟨q, hmem, .inr ⟨a, ha, rfl⟩⟩
      rintro (⟨b, s, h1, h2 | h2⟩ | ⟨b, s, h1, h2⟩)
      · exact read b s h1 h2
      · exact write b s (.inr h1) h2
      · exact write b s (.inl h1) h2

theorem scoreboard_valid (A : Accesses) (whole : Nat → Bool) (P : Program E Q) (hw : A.WholeValid whole) :
    (scoreboard A whole P).Valid := by
  intro c n hn hwn i t ht hk v w
  simp only [scoreboard, List.mem_flatMap, List.mem_append, List.mem_map] at hn ht
  obtain ⟨q, _, hn⟩ := hn
  have hslot : ∃ b, (n.key = writeKey b ∨ n.key = accessKey b) ∧ whole b = true ∧ n.slot = .const 0 := by
    rcases hn with ⟨a, ha, rfl⟩ | ⟨a, ha, rfl⟩
    · exact ⟨a.1, .inl rfl, hwn, hw c a (.inl ha) hwn⟩
    · exact ⟨a.1, .inr rfl, hwn, hw c a (.inr ha) hwn⟩
  obtain ⟨b, hb, hwb, hs⟩ := hslot
  have htouch : t.2 = .const 0 := by
    have same : ∀ a : Nat × Slot, (t.1 = writeKey a.1 ∨ t.1 = accessKey a.1) → a.1 = b := by
      intro a ha
      simp only [writeKey, accessKey] at ha hb
      omega
    rcases ht with (⟨a, ha, rfl⟩ | ⟨a, ha, rfl⟩) | ⟨a, ha, rfl⟩
    · exact hw i a (.inl ha) (by rw [same a (.inr rfl)]; exact hwb)
    · exact hw i a (.inr ha) (by rw [same a (.inl rfl)]; exact hwb)
    · exact hw i a (.inr ha) (by rw [same a (.inr rfl)]; exact hwb)
  rw [htouch, hs]
  rfl

/-- The specification machine looks at the dependences between instances of the reference, and at nothing else. -/
theorem spec_congr {D D' : DepRel E Q} {T : List (Instance E Q)} (h : ∀ p c, p ∈ T → D p c = D' p c) :
    Spec D T = Spec D' T := by
  have : SpecStep D T = SpecStep D' T := by
    funext s o s'
    apply propext
    constructor
    · intro hs
      cases hs with
      | issue pre c post hT hn hd =>
        exact .issue pre c post hT hn (fun a p b q e hD hq => hd a p b q e (by rw [h p c (by rw [hT, e]; simp)]; exact hD) hq)
      | complete q hq => exact .complete q hq
    · intro hs
      cases hs with
      | issue pre c post hT hn hd =>
        exact .issue pre c post hT hn (fun a p b q e hD hq => hd a p b q e (by rw [← h p c (by rw [hT, e]; simp)]; exact hD) hq)
      | complete q hq => exact .complete q hq
  simp only [Spec, this]

/-- Respecting the scoreboard's dependences is respecting all conflicts. -/
theorem scoreboard_respects (A : Accesses) (whole : Nat → Bool) (P : Program E Q) (ω : Control)
    (tr : List (Event E Q)) : Respects (scoreboard A whole P).rel (unroll ω P []) tr ↔
      Respects A.depends (unroll ω P []) tr := by
  constructor
  · intro h x c y hx pre post hT hn a p b q hp hc
    refine h x c y hx pre post hT hn a p b q hp ?_
    rw [scoreboard_rel A whole P ω p c (by rw [hT, hp]; simp)]
    exact hc
  · intro h x c y hx pre post hT hn a p b q hp hc
    refine h x c y hx pre post hT hn a p b q hp ?_
    rw [scoreboard_rel A whole P ω p c (by rw [hT, hp]; simp)] at hc
    exact hc

/-- Its thresholds are the positions that the conflicts require. -/
theorem scoreboard_required (A : Accesses) (whole : Nat → Bool) (P : Program E Q) (ω : Control)
    (pre post : List (Instance E Q)) (c : Instance E Q) (hT : unroll ω P [] = pre ++ post) (q : Q) :
    required (scoreboard A whole P).rel pre c q = required A.depends pre c q := by
  apply lastPosition_congr
  intro p hp
  exact scoreboard_rel A whole P ω p c (by rw [hT]; simp [hp])

/-! ## Why a static gap must not cross a back edge -/

/-- `9@A; loop { 1@B; 2@A }`, where 1 depends on the 2 of the iteration before. -/
def loopCarried : Program Bool Bool :=
  .seq (.instr 9 true (some true)) (.loop 0 (.seq (.instr 1 false (some false)) (.instr 2 true (some true))))
def needsPrevious : DepRel Bool Bool := fun p c => p.instr == 2 && c.instr == 1
/-- The code of engine B with the gap that is right from the second iteration on: wait for `shadow - 0`. -/
def staticGap : Code Bool :=
  .seq (.count true 1) (.loop 0 (.seq (.seq (.waitShadow true 0) (.issue 1 (some false))) (.count true 1)))

/-- In the first iteration it waits for instruction 9 (threshold 1), on which nothing depends (required: 0). -/
theorem static_gap_is_too_late :
    (stream (fun _ _ => 2) false staticGap).map (fun x => x.2 true) = [1, 2] ∧
    (requiredStreams needsPrevious (unroll (fun _ _ => 2) loopCarried []) false).map (fun x => x.2 true) = [0, 2] := by
  decide

end Headway
end
