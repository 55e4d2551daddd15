module
public import Headway.Width
public import Headway.Scoreboard
@[expose] public noncomputable section

/-!
# Code that starts anew at every epoch

Between two epochs all engines meet at a barrier, and semaphores, shadows and captures become 0. So the code of an epoch knows nothing of what
was before. An epoch runs parts of the program, each in its iterations: the turns of an outer loop, say, so many at a time. `Parts`
leaves open where the program is cut; all that is asked of the code of a part is that it keeps its registers on track (`Faithful`), as
compiled code does (`compile_faithful`).

* `required_since`: what an instance requires, less what was signalled before the barrier, is what it requires of its epoch alone.
* `reset_stream`: so the code that starts with empty registers waits for exactly that.
* `reset_bisim`: on semaphores of `W` values, reset at every barrier, it is bisimilar to unbounded counters with the same barriers, if no
  epoch has `W` or more signals of one counter. `reset_sound`: its schedules are correct.
* `bias_compare`: semaphore and shadow may start at the largest gap instead of 0, so that no threshold is negative.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q] {host : Q → E}

/-! ## Relative to a barrier -/

theorem lastPosition_since (q : Q) (f : Instance E Q → Bool) (bar mid : List (Instance E Q)) :
    lastPosition q f (bar ++ mid) - signals q bar = lastPosition q f mid := by
  induction mid using snoc_induction with
  | nil =>
    have := lastPosition_le_signals q f bar
    simp only [List.append_nil, lastPosition_nil]
    omega
  | snoc mid x ih =>
    rw [← List.append_assoc, lastPosition_snoc, lastPosition_snoc, signals_append]
    split
    · omega
    · exact ih

/-- What an instance requires beyond a barrier is what it requires of the instances since. -/
theorem required_since (D : DepRel E Q) (bar mid : List (Instance E Q)) (c : Instance E Q) (q : Q) :
    required D (bar ++ mid) c q - signals q bar = required D mid c q := lastPosition_since q _ bar mid

/-- The thresholds of a stream of epochs, counted from the last barrier. -/
def sinceBarrier (x : Instance E Q × (Q → Nat) × (Q → Nat)) : Instance E Q × (Q → Nat) := (x.1, fun q => x.2.1 q - x.2.2 q)

theorem epochFrom_since (D : DepRel E Q) (e : E) (bar : List (Instance E Q)) (rest : List (Option (Instance E Q)))
    (l : List (Instance E Q)) : ∀ mid : List (Instance E Q),
    (epochFrom D e bar (bar ++ mid) (l.map some ++ rest)).map sinceBarrier =
      requiredFrom D e mid l ++ (epochFrom D e bar (bar ++ mid ++ l) rest).map sinceBarrier := by
  induction l with
  | nil => intro mid; simp [requiredFrom]
  | cons c t ih =>
    intro mid
    have h := ih (mid ++ [c])
    simp only [List.append_assoc, List.cons_append, List.nil_append] at h
    simp only [List.map_cons, List.cons_append, epochFrom, requiredFrom, List.append_assoc]
    split
    · simp only [List.map_cons, h, List.cons_append, List.cons.injEq, and_true, sinceBarrier, Prod.mk.injEq, true_and]
      funext q
      exact required_since D bar mid c q
    · exact h

/-! ## The code -/

/-- Parts of a program, each in the iterations of the loops around it. -/
abbrev Parts (E Q : Type) := List (Program E Q × List Nat)

/-- The reference of the parts of one epoch. -/
def unrollParts (ω : Control) (parts : Parts E Q) : List (Instance E Q) := parts.flatMap (fun p => unroll ω p.1 p.2)

/-- The reference of a run in epochs: a barrier after each. -/
def unrollEpochs (ω : Control) (epochs : List (Parts E Q)) : List (Option (Instance E Q)) :=
  epochs.flatMap (fun parts => (unrollParts ω parts).map some ++ [none])

/-- One part after the other, on the same registers. -/
def runParts (ω : Control) (e : E) (code : Program E Q → Code Q) : Parts E Q → Registers Q → List (Effect E Q)
  | [], _ => []
  | p :: t, ρ => (run ω e (code p.1) p.2 ρ).1 ++ runParts ω e code t (run ω e (code p.1) p.2 ρ).2

/-- Each epoch starts with empty registers. -/
def resetStream (ω : Control) (code : E → Program E Q → Code Q) (epochs : List (Parts E Q)) (e : E) : Stream E Q :=
  epochs.flatMap (fun parts => group [] (runParts ω e (code e) parts .zero))

/-- The code of engine `e` for a part has the effects that the reference prescribes, and its registers track it. -/
def Faithful (d : Deps Q) (ω : Control) (e : E) (code : Program E Q → Code Q) : Prop :=
  ∀ (s : Program E Q) (v : List Nat) (pre : List (Instance E Q)) (ρ : Registers Q), Tracks d pre ρ →
    (run ω e (code s) v ρ).1 = effectsFrom d e pre (unroll ω s v) ∧ Tracks d (pre ++ unroll ω s v) (run ω e (code s) v ρ).2

theorem compile_faithful (d : Deps Q) (hd : d.Valid) (ω : Control) (e : E) : Faithful d ω e (fun s => compile d e s) :=
  fun s v pre ρ hT => compile_track d hd ω e s v pre ρ _ hT (gapsHold_none d pre)

theorem runParts_effects {d : Deps Q} {ω : Control} {e : E} {code : Program E Q → Code Q} (h : Faithful d ω e code)
    (parts : Parts E Q) : ∀ (pre : List (Instance E Q)) (ρ : Registers Q), Tracks d pre ρ →
    runParts ω e code parts ρ = effectsFrom d e pre (unrollParts ω parts) := by
  induction parts with
  | nil => intro pre ρ _; rfl
  | cons p t ih =>
    intro pre ρ hT
    obtain ⟨h1, h2⟩ := h p.1 p.2 pre ρ hT
    simp only [runParts, unrollParts, List.flatMap_cons, effectsFrom_append, h1]
    rw [ih _ _ h2]
    rfl

/-- Code that starts anew at every barrier waits for what is required beyond it. -/
theorem reset_stream (d : Deps Q) (ω : Control) {code : E → Program E Q → Code Q} (h : ∀ e, Faithful d ω e (code e))
    (epochs : List (Parts E Q)) (e : E) :
    resetStream ω code epochs e = (epochStreams d.rel (unrollEpochs ω epochs) e).map sinceBarrier := by
  have all : ∀ (epochs : List (Parts E Q)) (bar : List (Instance E Q)), resetStream ω code epochs e =
      (epochFrom d.rel e bar bar (unrollEpochs ω epochs)).map sinceBarrier := by
    intro epochs
    induction epochs with
    | nil => intro bar; rfl
    | cons parts t ih =>
      intro bar
      have h1 := epochFrom_since d.rel e bar (none :: unrollEpochs ω t) (unrollParts ω parts) []
      simp only [List.append_nil] at h1
      have h2 : unrollEpochs ω (parts :: t) = (unrollParts ω parts).map some ++ none :: unrollEpochs ω t := by
        simp [unrollEpochs]
      have h3 : resetStream ω code (parts :: t) e =
          group [] (runParts ω e (code e) parts .zero) ++ resetStream ω code t e := by
        simp [resetStream]
      rw [h2, h1, h3, runParts_effects (h e) parts [] .zero (tracks_zero d), group_effectsFrom]
      simp only [epochFrom]
      rw [ih]
  exact all epochs []

/-! ## The machine -/

/-- Finite semaphores and code that starts anew: the instance of an epoch passes the barrier, at the counts `b`, and compares its own
threshold with the value since, modulo `W`. -/
inductive ResetStep (W : Nat) (w : E → Stream E Q) (barrier : E → List (Q → Nat)) :
    Counts E Q → Option (Event E Q) → Counts E Q → Prop
  | issue {s} (e c g b) (hw : (w e)[s.issued e]? = some (c, g)) (hb : (barrier e)[s.issued e]? = some b) (he : c.engine = e)
      (hp : ∀ q, b q ≤ s.completed q) (hg : ∀ q, g q ≤ (s.completed q - b q) % W) :
      ResetStep W w barrier s (some (.issue c)) (s.issue c)
  | complete {s} (q) (h : s.completed q < s.started q) :
      ResetStep W w barrier s (some (.complete q)) (s.complete q)

def ResetMachine (W : Nat) (w : E → Stream E Q) (barrier : E → List (Q → Nat)) : LTS (Event E Q) :=
  ⟨Counts E Q, ResetStep W w barrier, .zero⟩

/-- The counts at the barrier before each instance of an engine. -/
def barriers (D : DepRel E Q) (l : List (Option (Instance E Q))) (e : E) : List (Q → Nat) := (epochStreams D l e).map (fun x => x.2.2)

/-- It is the machine of `Width`, with the thresholds that the code computes. -/
theorem reset_is_width (W : Nat) (D : DepRel E Q) (l : List (Option (Instance E Q))) :
    ResetMachine W (fun e => (epochStreams D l e).map sinceBarrier) (barriers D l) = WidthMachine W D l := by
  have h : ResetStep W (fun e => (epochStreams D l e).map sinceBarrier) (barriers D l) = WidthStep W D l := by
    funext s o s'
    apply propext
    constructor
    · intro h
      cases h with
      | complete q h => exact .complete q h
      | issue e c g b hw hb he hp hg =>
        simp only [List.getElem?_map, Option.map_eq_some_iff, barriers] at hw hb
        obtain ⟨⟨c1, g1, b1⟩, h1, h2⟩ := hw
        obtain ⟨x, h3, h4⟩ := hb
        rw [h1] at h3
        simp only [Option.some.injEq] at h3
        subst h3
        simp only [sinceBarrier, Prod.mk.injEq] at h2 h4
        obtain ⟨rfl, rfl⟩ := h2
        subst h4
        exact .issue e c1 g1 b1 h1 he hp hg
    · intro h
      cases h with
      | complete q h => exact .complete q h
      | issue e c g b hw he hb hg =>
        refine .issue e c (fun q => g q - b q) b ?_ ?_ he hb hg
        · simp [hw, sinceBarrier]
        · simp [barriers, hw]
  simp only [ResetMachine, WidthMachine, h]

/-- Code that resets its registers at every epoch, on semaphores of `W` values, behaves like unbounded counters with the same barriers. -/
theorem reset_bisim {W : Nat} (d : Deps Q) (ω : Control) {code : E → Program E Q → Code Q} (h : ∀ e, Faithful d ω e (code e))
    (epochs : List (Parts E Q)) (hW : EpochsFit W (unrollEpochs ω epochs))
    (hh : Hosted host (withoutBarriers (unrollEpochs ω epochs)))
    (hs : ∀ c ∈ withoutBarriers (unrollEpochs ω epochs), c.counter.isSome = true) :
    Bisimilar (ResetMachine W (resetStream ω code epochs) (barriers d.rel (unrollEpochs ω epochs)))
      (Guarded (fencedStreams d.rel (unrollEpochs ω epochs))) := by
  have hw : resetStream ω code epochs = fun e => (epochStreams d.rel (unrollEpochs ω epochs) e).map sinceBarrier := by
    funext e; exact reset_stream d ω h epochs e
  rw [hw, reset_is_width]
  exact width_bisim d.rel _ hW hh hs

/-- Every schedule of such code is correct. -/
theorem reset_sound {W : Nat} (d : Deps Q) (ω : Control) {code : E → Program E Q → Code Q} (h : ∀ e, Faithful d ω e (code e))
    (epochs : List (Parts E Q)) (hW : EpochsFit W (unrollEpochs ω epochs))
    (hh : Hosted host (withoutBarriers (unrollEpochs ω epochs)))
    (hs : ∀ c ∈ withoutBarriers (unrollEpochs ω epochs), c.counter.isSome = true) (tr : List (Event E Q))
    (ht : Traces (ResetMachine W (resetStream ω code epochs) (barriers d.rel (unrollEpochs ω epochs))) tr) :
    InOrder (withoutBarriers (unrollEpochs ω epochs)) tr ∧ Respects d.rel (withoutBarriers (unrollEpochs ω epochs)) tr :=
  at_least_sound (fenced_issues d.rel _) (fenced_at_least d.rel _) tr (((reset_bisim d ω h epochs hW hh hs).traces tr).mp ht)

/-! ## Bias -/

/-- Semaphore and shadow may both start at `G`: for gaps of at most `G` no difference goes below 0, and every comparison stays the same. -/
theorem bias_compare {G k shadow semaphore : Nat} (hk : k ≤ G) :
    (shadow + G) - k ≤ semaphore + G ↔ shadow - k ≤ semaphore := by omega

/-- With `W` values there have to be so many more. -/
theorem bias_width {W G k shadow semaphore : Nat} (hk : k ≤ G) (hW : semaphore + G < W) :
    (shadow + G) - k ≤ (semaphore + G) % W ↔ shadow - k ≤ semaphore := by
  rw [Nat.mod_eq_of_lt hW]; omega

/-- A threshold below 0 is no wait: what the tool compares as integers is compared here as natural numbers. -/
theorem negative_threshold (shadow k semaphore : Nat) :
    (shadow : Int) - (k : Int) ≤ (semaphore : Int) ↔ shadow - k ≤ semaphore := by omega

end Headway
end
