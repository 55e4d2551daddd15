module
public import Headway.Superfluous
public import Headway.Compile
@[expose] public noncomputable section

/-!
# A static pass: one decision for every run

A pass that leaves out waits decides once for each instruction, and the decision must be right in every iteration of every run. It argues with
assertions: what holds of the part of the reference that has been passed, at a control point, in the current iterations. An `Outline` is
such an argument: an assertion before and after each part of the program, one that a loop keeps (it may depend on the number of
the iteration, as for buffers that rotate), one that both branches reach.

* `outline_sound`: what an outline says holds, at every instance of the run.
* `place`: the code with any static waits: each a saved position or a distance from the shadow. `stream_place`: what it waits for in a run.
* `static_pass_bisim`: if an outline shows that the waits are nowhere too early and nowhere too late (file `Superfluous`), the code is bisimilar
  to the specification.

The order that the hardware keeps is written as a wait, too: `gap q 0` for the own counter of an engine that does one thing at a time.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q] {host : Q → E}

/-! ## Outlines -/

/-- What holds at a control point, in an iteration of the enclosing loops, after a part of the reference. -/
abbrev Assertion (E Q : Type) := List Nat → List (Instance E Q) → Prop

/-- Inside a loop: what holds at the start of iteration `j`, of which there is one. -/
def atStart (ω : Control) (site : Nat) (H : Nat → Assertion E Q) : Assertion E Q
  | [], _ => False
  | j :: v, pre => H j v pre ∧ j < ω site v

/-- What the end of an iteration has to establish: the same for the next one. -/
def atEnd (H : Nat → Assertion E Q) : Assertion E Q
  | [], _ => False
  | j :: v, pre => H (j + 1) v pre

/-- `P` leads from `I` to `J`, and before every instance `ok` holds. -/
inductive Outline (ω : Control) (ok : Instance E Q → List (Instance E Q) → Prop) :
    Program E Q → Assertion E Q → Assertion E Q → Prop
  | skip {I : Assertion E Q} : Outline ω ok .skip I I
  | instr {i : Nat} {e : E} {q : Option Q} {I J : Assertion E Q} :
      (∀ v pre, I v pre → ok ⟨i, e, q, v⟩ pre ∧ J v (pre ++ [⟨i, e, q, v⟩])) → Outline ω ok (.instr i e q) I J
  | seq {a b : Program E Q} {I H J : Assertion E Q} : Outline ω ok a I H → Outline ω ok b H J → Outline ω ok (.seq a b) I J
  | branch {k : Nat} {a b : Program E Q} {I J : Assertion E Q} :
      Outline ω ok a (fun v pre => I v pre ∧ ω k v ≠ 0) J → Outline ω ok b (fun v pre => I v pre ∧ ω k v = 0) J →
      Outline ω ok (.branch k a b) I J
  | loop {k : Nat} {s : Program E Q} {I J : Assertion E Q} (H : Nat → Assertion E Q) :
      (∀ v pre, I v pre → H 0 v pre) → Outline ω ok s (atStart ω k H) (atEnd H) →
      (∀ v pre, H (ω k v) v pre → J v pre) → Outline ω ok (.loop k s) I J
  | weaken {P : Program E Q} {I I' J J' : Assertion E Q} : (∀ v pre, I v pre → I' v pre) → Outline ω ok P I' J' →
      (∀ v pre, J' v pre → J v pre) → Outline ω ok P I J

theorem split_append {α : Type} {l m a b : List α} {c : α} (h : l ++ m = a ++ c :: b) :
    (∃ b', l = a ++ c :: b') ∨ ∃ a', a = l ++ a' ∧ m = a' ++ c :: b := by
  rcases List.append_eq_append_iff.mp h with ⟨x, h1, h2⟩ | ⟨x, h1, h2⟩
  · exact .inr ⟨x, h1, h2⟩
  · cases x with
    | nil =>
      rw [List.append_nil] at h1
      simp only [List.nil_append] at h2
      exact .inr ⟨[], by simp [h1], by simp [h2]⟩
    | cons y x =>
      simp only [List.cons_append, List.cons.injEq] at h2
      exact .inl ⟨x, by rw [h1, h2.1]⟩

/-- What an outline says holds. -/
theorem outline_sound {ω : Control} {ok : Instance E Q → List (Instance E Q) → Prop} {P : Program E Q}
    {I J : Assertion E Q} (h : Outline ω ok P I J) : ∀ v pre, I v pre →
      (∀ a c b, unroll ω P v = a ++ c :: b → ok c (pre ++ a)) ∧ J v (pre ++ unroll ω P v) := by
  have join : ∀ (pre l m : List (Instance E Q)), (∀ a c b, l = a ++ c :: b → ok c (pre ++ a)) →
      (∀ a c b, m = a ++ c :: b → ok c ((pre ++ l) ++ a)) → ∀ a c b, l ++ m = a ++ c :: b → ok c (pre ++ a) := by
    intro pre l m hl hm a c b h
    rcases split_append h with ⟨b', h1⟩ | ⟨a', h1, h2⟩
    · exact hl a c b' h1
    · rw [h1, ← List.append_assoc]; exact hm a' c b h2
  induction h with
  | skip =>
    intro v pre hI
    exact ⟨fun a c b h => by simp [unroll] at h, by simpa [unroll] using hI⟩
  | instr h =>
    intro v pre hI
    obtain ⟨h1, h2⟩ := h v pre hI
    refine ⟨fun a c b hs => ?_, h2⟩
    cases a with
    | nil => simp [unroll] at hs; rw [← hs.1]; simpa using h1
    | cons x a => simp [unroll] at hs
  | @seq a b I H J _ _ iha ihb =>
    intro v pre hI
    obtain ⟨h1, h2⟩ := iha v pre hI
    obtain ⟨h3, h4⟩ := ihb v _ h2
    exact ⟨join pre _ _ h1 h3, by simpa only [unroll, List.append_assoc] using h4⟩
  | branch _ _ iha ihb =>
    intro v pre hI
    simp only [unroll]
    split
    · rename_i h0; exact ihb v pre ⟨hI, h0⟩
    · rename_i h0; exact iha v pre ⟨hI, h0⟩
  | @loop k s I J H h0 _ hJ ih =>
    intro v pre hI
    have turns : ∀ n j pre, j + n = ω k v → H j v pre →
        (∀ a c b, iterate (fun j => unroll ω s (j :: v)) n j = a ++ c :: b → ok c (pre ++ a)) ∧
        H (j + n) v (pre ++ iterate (fun j => unroll ω s (j :: v)) n j) := by
      intro n
      induction n with
      | zero =>
        intro j pre _ hj
        exact ⟨fun a c b h => by simp [iterate] at h, by simpa [iterate] using hj⟩
      | succ n ihn =>
        intro j pre hn hj
        obtain ⟨h1, h2⟩ := ih (j :: v) pre ⟨hj, by omega⟩
        obtain ⟨h3, h4⟩ := ihn (j + 1) _ (by omega) h2
        refine ⟨join pre _ _ h1 h3, ?_⟩
        have : j + (n + 1) = j + 1 + n := by omega
        rw [this]
        simpa only [iterate, List.append_assoc] using h4
    obtain ⟨h1, h2⟩ := turns (ω k v) 0 pre (by omega) (h0 v pre hI)
    rw [Nat.zero_add] at h2
    exact ⟨h1, hJ _ _ h2⟩
  | weaken hI _ hJ ih =>
    intro v pre h
    obtain ⟨h1, h2⟩ := ih v pre (hI v pre h)
    exact ⟨h1, hJ _ _ h2⟩

/-! ## Code with static waits -/

inductive StaticWait (Q : Type) where
  | saved (q : Q) (key : Nat) (slot : Slot)  -- for the captured position
  | gap (q : Q) (k : Nat)                    -- for the signal `k` before the last one

def StaticWait.counter : StaticWait Q → Q
  | .saved q _ _ => q
  | .gap q _ => q

def StaticWait.code : StaticWait Q → Code Q
  | .saved q key slot => .waitCapture q key slot
  | .gap q k => .waitShadow q k

/-- The threshold of a static wait in iteration `v`, after `pre`. -/
def StaticWait.value (d : Deps Q) (pre : List (Instance E Q)) (v : List Nat) : StaticWait Q → Nat
  | .saved q key slot => lastPosition q (d.touched key (slot.eval v)) pre
  | .gap q k => signals q pre - k

def codeWaits : List (StaticWait Q) → Code Q
  | [] => .nop
  | w :: t => .seq w.code (codeWaits t)

/-- The code of engine `e`: the waits of each of its instructions, and counts and captures for all. -/
def place (d : Deps Q) (waits : Nat → List (StaticWait Q)) (e : E) : Program E Q → Code Q
  | .skip => .nop
  | .instr i a q => .seq (if a = e then .seq (codeWaits (waits i)) (.issue i q) else .nop) (passSignal d i q)
  | .seq a b => .seq (place d waits e a) (place d waits e b)
  | .branch k a b => .branch k (place d waits e a) (place d waits e b)
  | .loop k s => .loop k (place d waits e s)

/-- The thresholds of `c` after `pre`. -/
def staticThreshold (d : Deps Q) (waits : Nat → List (StaticWait Q)) (pre : List (Instance E Q)) (c : Instance E Q) : Q → Nat :=
  threshold ((waits c.instr).map (fun w => (w.counter, w.value d pre c.iteration))).reverse

/-- A part of the reference, after `pre`, with the thresholds of the static waits. -/
def placed (d : Deps Q) (waits : Nat → List (StaticWait Q)) : List (Instance E Q) → List (Instance E Q) → Annotated E Q
  | _, [] => []
  | pre, c :: t => (c, staticThreshold d waits pre c) :: placed d waits (pre ++ [c]) t

def placedEffects (d : Deps Q) (waits : Nat → List (StaticWait Q)) (e : E) :
    List (Instance E Q) → List (Instance E Q) → List (Effect E Q)
  | _, [] => []
  | pre, c :: t =>
    (if c.engine = e then
      (waits c.instr).map (fun w => Effect.wait w.counter (w.value d pre c.iteration)) ++ [.issue c] else []) ++
    placedEffects d waits e (pre ++ [c]) t

theorem placedEffects_append (d : Deps Q) (waits : Nat → List (StaticWait Q)) (e : E) (pre l m : List (Instance E Q)) :
    placedEffects d waits e pre (l ++ m) = placedEffects d waits e pre l ++ placedEffects d waits e (pre ++ l) m := by
  induction l generalizing pre with
  | nil => simp [placedEffects]
  | cons c t ih => simp [placedEffects, ih]

theorem run_codeWaits {d : Deps Q} (ω : Control) (e : E) {pre : List (Instance E Q)} {ρ : Registers Q}
    (hT : Tracks d pre ρ) (l : List (StaticWait Q)) (v : List Nat) :
    run ω e (codeWaits l) v ρ = (l.map (fun w => Effect.wait w.counter (w.value d pre v)), ρ) := by
  induction l with
  | nil => simp [codeWaits, run]
  | cons w t ih =>
    cases w <;> simp [codeWaits, StaticWait.code, StaticWait.value, StaticWait.counter, run, ih, hT.1, hT.2]

/-- The code has the effects that the static waits prescribe, and its registers track the reference. -/
theorem place_track (d : Deps Q) (waits : Nat → List (StaticWait Q)) (ω : Control) (e : E) (s : Program E Q) :
    ∀ (v : List Nat) (pre : List (Instance E Q)) (ρ : Registers Q), Tracks d pre ρ →
      (run ω e (place d waits e s) v ρ).1 = placedEffects d waits e pre (unroll ω s v) ∧
      Tracks d (pre ++ unroll ω s v) (run ω e (place d waits e s) v ρ).2 := by
  induction s with
  | skip => intro v pre ρ hT; exact ⟨rfl, by simpa [unroll, place, run] using hT⟩
  | instr i a q =>
    intro v pre ρ hT
    obtain ⟨ht1, ht2⟩ := tracks_pass ω e hT ⟨i, a, q, v⟩
    simp only at ht1 ht2
    by_cases h : a = e
    · subst h
      have hn := run_codeWaits ω a hT (waits i) v
      constructor
      · simp [place, run, unroll, placedEffects, hn, ht1]
      · simpa [place, run, unroll, hn] using ht2
    · constructor
      · simp [place, run, unroll, placedEffects, h, ht1]
      · simpa [place, run, unroll, h] using ht2
  | seq a b iha ihb =>
    intro v pre ρ hT
    obtain ⟨h1, h2⟩ := iha v pre ρ hT
    obtain ⟨h3, h4⟩ := ihb v _ _ h2
    constructor
    · simp only [place, run, unroll, placedEffects_append, h1, h3]
    · simpa only [place, run, unroll, ← List.append_assoc] using h4
  | branch k a b iha ihb =>
    intro v pre ρ hT
    simp only [place, run, unroll]
    split
    · exact ihb v pre ρ hT
    · exact iha v pre ρ hT
  | loop k s ih =>
    intro v pre ρ hT
    have turns : ∀ n j pre ρ, Tracks d pre ρ →
        (iterateCode (fun j => run ω e (place d waits e s) (j :: v)) n j ρ).1 =
          placedEffects d waits e pre (iterate (fun j => unroll ω s (j :: v)) n j) ∧
        Tracks d (pre ++ iterate (fun j => unroll ω s (j :: v)) n j)
          (iterateCode (fun j => run ω e (place d waits e s) (j :: v)) n j ρ).2 := by
      intro n
      induction n with
      | zero => intro j pre ρ hT; exact ⟨rfl, by simpa [iterate, iterateCode] using hT⟩
      | succ n ihn =>
        intro j pre ρ hT
        obtain ⟨h1, h2⟩ := ih (j :: v) pre ρ hT
        obtain ⟨h3, h4⟩ := ihn (j + 1) _ _ h2
        constructor
        · simp only [iterateCode, iterate, placedEffects_append, h1, h3]
        · simpa only [iterateCode, iterate, ← List.append_assoc] using h4
    exact turns (ω k v) 0 pre ρ hT

theorem group_placed (d : Deps Q) (waits : Nat → List (StaticWait Q)) (e : E) (l pre : List (Instance E Q)) :
    group [] (placedEffects d waits e pre l) = streamsOf (placed d waits pre l) e := by
  have passed : ∀ (l : List (StaticWait Q)) (f : StaticWait Q → Nat) (ws : List (Q × Nat)) (r : List (Effect E Q)),
      group ws (l.map (fun w => Effect.wait w.counter (f w)) ++ r) =
        group ((l.map (fun w => (w.counter, f w))).reverse ++ ws) r := by
    intro l f
    induction l with
    | nil => intro ws r; rfl
    | cons w t ih => intro ws r; simp [group, ih]
  induction l generalizing pre with
  | nil => rfl
  | cons c t ih =>
    simp only [placedEffects, placed]
    by_cases h : c.engine = e
    · simp only [h, if_true, List.append_assoc, passed, List.append_nil, List.cons_append, List.nil_append, group, ih]
      simp [streamsOf, h, staticThreshold]
    · simp only [h, if_false, List.nil_append, ih]
      simp [streamsOf, h]

/-- What the code waits for, in every run. -/
theorem stream_place (d : Deps Q) (waits : Nat → List (StaticWait Q)) (ω : Control) (e : E) (P : Program E Q) :
    stream ω e (place d waits e P) = streamsOf (placed d waits [] (unroll ω P [])) e := by
  rw [stream, (place_track d waits ω e P [] [] .zero (tracks_zero d)).1, group_placed]

theorem placed_map (d : Deps Q) (waits : Nat → List (StaticWait Q)) (l pre : List (Instance E Q)) :
    (placed d waits pre l).map Prod.fst = l := by
  induction l generalizing pre with
  | nil => rfl
  | cons c t ih => simp [placed, ih]

theorem placed_split (d : Deps Q) (waits : Nat → List (StaticWait Q)) (l : List (Instance E Q)) :
    ∀ (pre : List (Instance E Q)) (a : Annotated E Q) (c : Instance E Q) (g : Q → Nat) (b : Annotated E Q),
      placed d waits pre l = a ++ (c, g) :: b → g = staticThreshold d waits (pre ++ a.map Prod.fst) c := by
  induction l with
  | nil => intro pre a c g b h; simp [placed] at h
  | cons x t ih =>
    intro pre a c g b h
    cases a with
    | nil =>
      simp only [placed, List.nil_append, List.cons.injEq, Prod.mk.injEq] at h
      rw [← h.1.2, ← h.1.1]; simp
    | cons y a =>
      simp only [placed, List.cons_append, List.cons.injEq] at h
      have := ih _ a c g b h.2
      rw [this, ← h.1]
      simp

/-- The waits of `c` are neither too early nor too late. -/
def Fits (counters : List Q) (D : DepRel E Q) (d : Deps Q) (waits : Nat → List (StaticWait Q)) (c : Instance E Q)
    (pre : List (Instance E Q)) : Prop :=
  NotEarly counters D pre c (staticThreshold d waits pre c) ∧ NotLate counters D pre c (staticThreshold d waits pre c)

/-- Static waits for which an outline shows that they fit are exact: the code is weakly bisimilar to the specification. -/
theorem static_pass_bisim (counters : List Q) (D : DepRel E Q) (d : Deps Q) (waits : Nat → List (StaticWait Q)) (ω : Control)
    (P : Program E Q) (hh : Hosted host (unroll ω P [])) {J : Assertion E Q}
    (h : Outline ω (Fits counters D d waits) P (fun v pre => v = [] ∧ pre = []) J) :
    Bisimilar (Machine ω (fun e => place d waits e P)) (Spec D (unroll ω P [])) := by
  have fits : ∀ a c g b, placed d waits [] (unroll ω P []) = a ++ (c, g) :: b →
      NotEarly counters D (a.map Prod.fst) c g ∧ NotLate counters D (a.map Prod.fst) c g := by
    intro a c g b hs
    have hg := placed_split d waits _ [] a c g b hs
    have hl : unroll ω P [] = a.map Prod.fst ++ c :: b.map Prod.fst := by
      rw [← placed_map d waits (unroll ω P []) [], hs]; simp
    have hf := (outline_sound h [] [] ⟨rfl, rfl⟩).1 (a.map Prod.fst) c (b.map Prod.fst) hl
    rw [hg]
    simpa [Fits] using hf
  have hm := placed_map d waits (unroll ω P []) []
  have hw : (fun e => stream ω e (place d waits e P)) = streamsOf (placed d waits [] (unroll ω P [])) := by
    funext e; exact stream_place d waits ω e P
  have hb := superfluous_bisim (host := host) counters D (placed d waits [] (unroll ω P [])) (by rw [hm]; exact hh)
    (fun a c g b hs => (fits a c g b hs).1) (fun a c g b hs => (fits a c g b hs).2)
  rw [hm] at hb
  have hmach := machine_bisim_guarded ω (fun e => place d waits e P)
  rw [hw] at hmach
  exact hmach.trans hb

end Headway
end
