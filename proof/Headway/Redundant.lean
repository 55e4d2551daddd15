module
public import Headway.Optimize
public import Headway.Acceptable
@[expose] public noncomputable section

/-!
# A pass that drops waits which an earlier wait of the same engine implies

`dropImplied` walks the code of one engine and remembers, for each counter, how far behind the shadow the strongest wait so far is. A relative
wait that is no stronger is dropped: on all paths, through branches and loops. `dropImplied_reduces`: what it
leaves is a reduction in the sense of `Acceptable`, so the machine stays bisimilar.

`synchronized` is the whole chain: compile, drop dead captures, skip loops, drop implied waits.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- `kn q = some k`: an earlier wait of this engine has established `semaphore q ≥ shadow q - k`. -/
abbrev Established (Q : Type) := Q → Option Nat

def Code.addsTo (q : Q) : Code Q → Bool
  | .count p _ => decide (p = q)
  | .countTrip p _ _ => decide (p = q)
  | .seq a b => a.addsTo q || b.addsTo q
  | .branch _ a b => a.addsTo q || b.addsTo q
  | .loop _ b => b.addsTo q
  | _ => false

def Established.forget (b : Code Q) (kn : Established Q) : Established Q := fun q => if b.addsTo q then none else kn q
def Established.join (kn kn' : Established Q) : Established Q := fun q =>
  match kn q, kn' q with
  | some x, some y => some (max x y)
  | _, _ => none
def Established.implies (kn : Established Q) (q : Q) (k : Nat) : Bool :=
  match kn q with
  | some k0 => decide (k0 ≤ k)
  | none => false

def Established.after : Code Q → Established Q → Established Q
  | .count q m, kn => fun p => if p = q then (kn p).map (· + m) else kn p
  | .countTrip q _ _, kn => fun p => if p = q then none else kn p
  | .waitShadow q k, kn => if kn.implies q k then kn else fun p => if p = q then some k else kn p
  | .seq a b, kn => Established.after b (Established.after a kn)
  | .branch _ a b, kn => (Established.after a kn).join (Established.after b kn)
  | .loop _ b, kn => kn.forget b
  | _, kn => kn

def dropImplied : Code Q → Established Q → Code Q
  | .waitShadow q k, kn => if kn.implies q k then .nop else .waitShadow q k
  | .seq a b, kn => .seq (dropImplied a kn) (dropImplied b (Established.after a kn))
  | .branch k a b, kn => .branch k (dropImplied a kn) (dropImplied b kn)
  | .loop k b, kn => .loop k (dropImplied b (kn.forget b))
  | c, _ => c

/-! ## Fewer waits, the same knowledge -/

/-- The second effects are the first without some waits implied by waits already kept (`s` before, the last list after). -/
inductive Fewer : List (Q × Nat) → List (Effect E Q) → List (Effect E Q) → List (Q × Nat) → Prop
  | nil {s} : Fewer s [] [] s
  | keep {s q n t t' s'} : Fewer ((q, n) :: s) t t' s' → Fewer s (.wait q n :: t) (.wait q n :: t') s'
  | drop {s q n n' t t' s'} : (q, n') ∈ s → n ≤ n' → Fewer s t t' s' → Fewer s (.wait q n :: t) t' s'
  | issue {s c t t' s'} : Fewer s t t' s' → Fewer s (.issue c :: t) (.issue c :: t') s'

theorem Fewer.append {s s1 s2 : List (Q × Nat)} {t t' u u' : List (Effect E Q)} (h : Fewer s t t' s1)
    (k : Fewer s1 u u' s2) : Fewer s (t ++ u) (t' ++ u') s2 := by
  induction h with
  | nil => exact k
  | keep _ ih => exact .keep (ih k)
  | drop h1 h2 _ ih => exact .drop h1 h2 (ih k)
  | issue _ ih => exact .issue (ih k)

theorem Fewer.mono {s s1 : List (Q × Nat)} {t t' : List (Effect E Q)} (h : Fewer s t t' s1) :
    ∀ x ∈ s, x ∈ s1 := by
  induction h with
  | nil => intro x hx; exact hx
  | keep _ ih => intro x hx; exact ih x (by simp [hx])
  | drop _ _ _ ih => exact ih
  | issue _ ih => exact ih

def EstablishedHolds (s : List (Q × Nat)) (ρ : Registers Q) (kn : Established Q) : Prop :=
  ∀ q k, kn q = some k → ∃ n', (q, n') ∈ s ∧ ρ.shadow q - k ≤ n'

theorem iterateCode_shadow (q : Q) (f : Nat → Registers Q → List (Effect E Q) × Registers Q)
    (h : ∀ j ρ, (f j ρ).2.shadow q = ρ.shadow q) (n j : Nat) (ρ : Registers Q) :
    (iterateCode f n j ρ).2.shadow q = ρ.shadow q := by
  induction n generalizing j ρ with
  | zero => rfl
  | succ n ih => simp only [iterateCode, ih, h]

theorem shadow_of_not_addsTo (ω : Control) (e : E) (q : Q) (c : Code Q) (h : c.addsTo q = false) :
    ∀ v ρ, (run ω e c v ρ).2.shadow q = ρ.shadow q := by
  induction c with
  | nop | capture | waitCapture | waitShadow | issue => intro v ρ; rfl
  | count p k =>
    intro v ρ
    simp [Code.addsTo] at h
    simp [run, Registers.add, update_ne _ _ (Ne.symm h)]
  | countTrip p k site =>
    intro v ρ
    simp [Code.addsTo] at h
    simp [run, Registers.add, update_ne _ _ (Ne.symm h)]
  | seq a b iha ihb =>
    intro v ρ
    simp [Code.addsTo] at h
    simp only [run, ihb h.2, iha h.1]
  | branch k a b iha ihb =>
    intro v ρ
    simp [Code.addsTo] at h
    simp only [run]; split
    · exact ihb h.2 v ρ
    · exact iha h.1 v ρ
  | loop k b ih =>
    intro v ρ
    exact iterateCode_shadow q _ (fun j ρ => ih h _ ρ) _ _ ρ

theorem establishedHolds_forget {s : List (Q × Nat)} {ρ : Registers Q} {kn : Established Q} (b : Code Q)
    (h : EstablishedHolds s ρ kn) : EstablishedHolds s ρ (kn.forget b) := by
  intro q k hk
  simp only [Established.forget] at hk
  split at hk
  · simp at hk
  · exact h q k hk

theorem establishedHolds_forget_step {s s' : List (Q × Nat)} {ρ ρ' : Registers Q} {kn : Established Q} {b : Code Q}
    (h : EstablishedHolds s ρ (kn.forget b)) (hs : ∀ x ∈ s, x ∈ s')
    (hsh : ∀ q, b.addsTo q = false → ρ'.shadow q = ρ.shadow q) : EstablishedHolds s' ρ' (kn.forget b) := by
  intro q k hk
  obtain ⟨n', h1, h2⟩ := h q k hk
  have hq : b.addsTo q = false := by
    simp only [Established.forget] at hk
    split at hk
    · simp at hk
    · simp_all
  exact ⟨n', hs _ h1, by rw [hsh q hq]; exact h2⟩

theorem iterate_fewer {f g : Nat → Registers Q → List (Effect E Q) × Registers Q}
    (I : List (Q × Nat) → Registers Q → Prop)
    (h : ∀ j s ρ, I s ρ → ∃ s', Fewer s (f j ρ).1 (g j ρ).1 s' ∧ (g j ρ).2 = (f j ρ).2 ∧ I s' (f j ρ).2)
    (n : Nat) : ∀ j s ρ, I s ρ → ∃ s', Fewer s (iterateCode f n j ρ).1 (iterateCode g n j ρ).1 s' ∧
      (iterateCode g n j ρ).2 = (iterateCode f n j ρ).2 ∧ I s' (iterateCode f n j ρ).2 := by
  induction n with
  | zero => intro j s ρ hi; exact ⟨s, .nil, rfl, hi⟩
  | succ n ih =>
    intro j s ρ hi
    obtain ⟨s1, h1, h2, h3⟩ := h j s ρ hi
    obtain ⟨s2, h4, h5, h6⟩ := ih (j + 1) s1 _ h3
    refine ⟨s2, ?_, ?_, h6⟩
    · simp only [iterateCode, h2]; exact h1.append h4
    · simp only [iterateCode, h2, h5]

theorem run_dropImplied (ω : Control) (e : E) (c : Code Q) :
    ∀ (v : List Nat) (s : List (Q × Nat)) (ρ : Registers Q) (kn : Established Q), EstablishedHolds s ρ kn →
      ∃ s', Fewer s (run ω e c v ρ).1 (run ω e (dropImplied c kn) v ρ).1 s' ∧
        (run ω e (dropImplied c kn) v ρ).2 = (run ω e c v ρ).2 ∧
        EstablishedHolds s' (run ω e c v ρ).2 (Established.after c kn) := by
  induction c with
  | nop => intro v s ρ kn h; exact ⟨s, .nil, rfl, h⟩
  | capture => intro v s ρ kn h; exact ⟨s, .nil, rfl, h⟩
  | issue => intro v s ρ kn h; exact ⟨s, .issue .nil, rfl, h⟩
  | waitCapture q key slot =>
    intro v s ρ kn h
    refine ⟨_, .keep .nil, rfl, ?_⟩
    intro p k hk
    obtain ⟨n', h1, h2⟩ := h p k hk
    exact ⟨n', by simp [h1], h2⟩
  | count q m =>
    intro v s ρ kn h
    refine ⟨s, .nil, rfl, ?_⟩
    intro p k hk
    simp only [Established.after] at hk
    split at hk
    · rename_i hp
      subst hp
      simp at hk
      obtain ⟨k', hk', rfl⟩ := hk
      obtain ⟨n', h1, h2⟩ := h p k' hk'
      exact ⟨n', h1, by simp [run, Registers.add]; omega⟩
    · rename_i hp
      obtain ⟨n', h1, h2⟩ := h p k hk
      exact ⟨n', h1, by simpa [run, Registers.add, update_ne _ _ hp] using h2⟩
  | countTrip q m site =>
    intro v s ρ kn h
    refine ⟨s, .nil, rfl, ?_⟩
    intro p k hk
    simp only [Established.after] at hk
    split at hk
    · simp at hk
    · rename_i hp
      obtain ⟨n', h1, h2⟩ := h p k hk
      exact ⟨n', h1, by simpa [run, Registers.add, update_ne _ _ hp] using h2⟩
  | waitShadow q k =>
    intro v s ρ kn h
    simp only [dropImplied, Established.after]
    by_cases hi : kn.implies q k = true
    · simp only [hi, if_true]
      have hi' := hi
      simp only [Established.implies] at hi'
      split at hi'
      · rename_i k0 hk0
        obtain ⟨n', h1, h2⟩ := h q k0 hk0
        simp at hi'
        exact ⟨s, .drop h1 (by omega) .nil, rfl, h⟩
      · simp at hi'
    · simp only [hi]
      refine ⟨_, .keep .nil, rfl, ?_⟩
      intro p k' hk
      simp only [Bool.false_eq_true, if_false] at hk
      split at hk
      · rename_i hp
        subst hp
        simp at hk
        subst hk
        exact ⟨_, List.mem_cons_self, Nat.le_refl _⟩
      · obtain ⟨n', h1, h2⟩ := h p k' hk
        exact ⟨n', by simp [h1], h2⟩
  | seq a b iha ihb =>
    intro v s ρ kn h
    obtain ⟨s1, h1, h2, h3⟩ := iha v s ρ kn h
    obtain ⟨s2, h4, h5, h6⟩ := ihb v s1 _ _ h3
    refine ⟨s2, ?_, ?_, h6⟩
    · simp only [run, dropImplied, h2]; exact h1.append h4
    · simp only [run, dropImplied, h2, h5]
  | branch k a b iha ihb =>
    intro v s ρ kn h
    have key : ∀ (s' : List (Q × Nat)) (ρ' : Registers Q),
        (EstablishedHolds s' ρ' (Established.after a kn) ∨ EstablishedHolds s' ρ' (Established.after b kn)) →
        EstablishedHolds s' ρ' (Established.after (.branch k a b) kn) := by
      intro s' ρ' hor q m hm
      simp only [Established.after, Established.join] at hm
      split at hm
      · rename_i x y hx hy
        simp at hm
        rcases hor with hor | hor
        · obtain ⟨n', h1, h2⟩ := hor q x hx; exact ⟨n', h1, by omega⟩
        · obtain ⟨n', h1, h2⟩ := hor q y hy; exact ⟨n', h1, by omega⟩
      · simp at hm
    simp only [run, dropImplied]
    split
    · obtain ⟨s1, h1, h2, h3⟩ := ihb v s ρ kn h
      exact ⟨s1, h1, h2, key _ _ (.inr h3)⟩
    · obtain ⟨s1, h1, h2, h3⟩ := iha v s ρ kn h
      exact ⟨s1, h1, h2, key _ _ (.inl h3)⟩
  | loop k b ih =>
    intro v s ρ kn h
    refine iterate_fewer (f := fun j => run ω e b (j :: v)) (g := fun j => run ω e (dropImplied b (kn.forget b)) (j :: v))
      (fun s ρ => EstablishedHolds s ρ (kn.forget b)) ?_ (ω k v) 0 s ρ (establishedHolds_forget b h)
    intro j s ρ hi
    obtain ⟨s1, h1, h2, _⟩ := ih (j :: v) s ρ _ hi
    exact ⟨s1, h1, h2, establishedHolds_forget_step hi h1.mono (fun q hq => shadow_of_not_addsTo ω e q b hq _ ρ)⟩

/-! ## From dropped waits to a reduction -/

/-- `x` on counter `q` is covered: by a kept wait that is pending, or known to an earlier instance. -/
def Covered (host : Q → E) (w' : E → Stream E Q) (e : E) (n : Nat) (ws' : List (Q × Nat)) (q : Q) (x : Nat) : Prop :=
  x ≤ threshold ws' q ∨ ∃ m, m < n ∧ Known host w' e m q x

theorem Covered.cons {host : Q → E} {w' : E → Stream E Q} {e : E} {n : Nat} {ws' : List (Q × Nat)} {q : Q} {x : Nat}
    (h : Covered host w' e n ws' q x) (p : Q) (y : Nat) : Covered host w' e n ((p, y) :: ws') q x :=
  h.elim (fun h => .inl (Nat.le_trans h (threshold_cons_ge p y ws' q))) .inr

theorem fewer_reduces (host : Q → E) (w' : E → Stream E Q) (e : E) {s s' : List (Q × Nat)}
    {ev ev' : List (Effect E Q)} (h : Fewer s ev ev' s') :
    ∀ (n : Nat) (ws ws' : List (Q × Nat)), (w' e).drop n = group ws' ev' →
      (∀ q x, (q, x) ∈ s → Covered host w' e n ws' q x) → (∀ q, Covered host w' e n ws' q (threshold ws q)) →
      (∀ q, threshold ws' q ≤ threshold ws q) → ∀ (i : Nat) (c : Instance E Q),
      (∀ g, (group ws ev)[i]? = some (c, g) →
        ∃ g', (group ws' ev')[i]? = some (c, g') ∧ ∀ q, g' q ≤ g q) ∧
      (∀ g', (group ws' ev')[i]? = some (c, g') →
        ∃ g, (group ws ev)[i]? = some (c, g) ∧ ∀ q, Known host w' e (n + i) q (g q)) := by
  induction h with
  | nil => intro n ws ws' _ _ _ _ i c; simp [group]
  | @keep s q m t t' s' _ ih =>
    intro n ws ws' hd hs hw hle i c
    refine ih n ((q, m) :: ws) ((q, m) :: ws') (by simpa [group] using hd) ?_ ?_ ?_ i c
    · intro p x hx
      simp only [List.mem_cons, Prod.mk.injEq] at hx
      rcases hx with ⟨rfl, rfl⟩ | hx
      · left; simp only [threshold, if_true]; omega
      · exact (hs p x hx).cons q m
    · intro p
      have h1 := (hw p).cons q m
      by_cases hp : q = p
      · subst hp
        simp only [threshold, if_true] at *
        rcases Nat.le_total (threshold ws q) m with h2 | h2
        · left; simp [threshold]; omega
        · rw [Nat.max_eq_right h2]; exact h1
      · simpa [threshold, hp] using h1
    · intro p
      have := hle p
      simp only [threshold]; split <;> omega
  | @drop s q m m' t t' s' hm hmm _ ih =>
    intro n ws ws' hd hs hw hle i c
    refine ih n ((q, m) :: ws) ws' hd hs ?_ ?_ i c
    · intro p
      by_cases hp : q = p
      · subst hp
        rcases Nat.le_total (threshold ws q) m with h2 | h2
        · have : threshold ((q, m) :: ws) q = m := by simp only [threshold, if_true]; omega
          rw [this]
          rcases hs q m' hm with h3 | ⟨j, h3, h4⟩
          · left; omega
          · right; exact ⟨j, h3, h4.down m hmm⟩
        · have : threshold ((q, m) :: ws) q = threshold ws q := by simp only [threshold, if_true]; omega
          rw [this]; exact hw q
      · simpa [threshold, hp] using hw p
    · intro p; exact Nat.le_trans (hle p) (threshold_cons_ge q m ws p)
  | @issue s c0 t t' s' _ ih =>
    intro n ws ws' hd hs hw hle i c
    simp only [group] at hd
    obtain ⟨hget, hd'⟩ := get_of_drop hd
    have covers : ∀ q x, Covered host w' e n ws' q x → Known host w' e n q x := by
      intro q x hx
      rcases hx with hx | ⟨j, hj, hk⟩
      · exact .own hget hx
      · exact .earlier (Nat.le_of_lt hj) hk
    cases i with
    | zero =>
      simp only [group, List.getElem?_cons_zero, Option.some.injEq, Prod.mk.injEq]
      constructor
      · rintro g ⟨rfl, rfl⟩; exact ⟨_, ⟨rfl, rfl⟩, hle⟩
      · rintro g ⟨rfl, rfl⟩; exact ⟨_, ⟨rfl, rfl⟩, fun q => covers q _ (hw q)⟩
    | succ i =>
      have := ih (n + 1) [] [] hd' (fun q x hx => .inr ⟨n, Nat.lt_succ_self n, covers q x (hs q x hx)⟩)
        (fun q => .inl (Nat.le_refl _)) (fun q => Nat.le_refl _) i c
      simp only [group, List.getElem?_cons_succ]
      rw [show n + (i + 1) = n + 1 + i by omega]
      exact this

/-- The pass reduces the streams, in every run. -/
theorem dropImplied_reduces (host : Q → E) (ω : Control) (code : E → Code Q) :
    Reduces host (fun e => stream ω e (code e)) (fun e => stream ω e (dropImplied (code e) (fun _ => none))) := by
  have key : ∀ (e : E) (i : Nat) (c : Instance E Q),
      (∀ g, (stream ω e (code e))[i]? = some (c, g) →
        ∃ g', (stream ω e (dropImplied (code e) (fun _ => none)))[i]? = some (c, g') ∧ ∀ q, g' q ≤ g q) ∧
      (∀ g', (stream ω e (dropImplied (code e) (fun _ => none)))[i]? = some (c, g') →
        ∃ g, (stream ω e (code e))[i]? = some (c, g) ∧
          ∀ q, Known host (fun e => stream ω e (dropImplied (code e) (fun _ => none))) e (0 + i) q (g q)) := by
    intro e
    obtain ⟨s', h, _⟩ := run_dropImplied ω e (code e) [] [] .zero (fun _ => none) (by intro q k h; simp at h)
    exact fewer_reduces host (fun e => stream ω e (dropImplied (code e) (fun _ => none))) e h 0 [] [] rfl
      (by simp) (fun q => .inl (Nat.le_refl _)) (fun q => Nat.le_refl _)
  constructor
  · intro e n c g h
    exact (key e n c).1 g h
  · intro e n c g h
    simpa using (key e n c).2 g h

/-! ## The whole chain -/

/-- The synchronized program: compiled, without dead captures, loops skipped, implied waits dropped. -/
def synchronized (d : Deps Q) (P : Program E Q) (e : E) : Code Q := dropImplied (optimized d P e) (fun _ => none)

/-- The synchronized program is weakly bisimilar to the specification machine, in every run. -/
theorem synchronized_bisim (d : Deps Q) (hd : d.Valid) (ω : Control) (P : Program E Q) {host : Q → E}
    (hh : Hosted host (unroll ω P [])) :
    Bisimilar (Machine ω (synchronized d P)) (Spec d.rel (unroll ω P [])) := by
  have hr := dropImplied_reduces host ω (optimized d P)
  rw [stream_optimized d hd] at hr
  exact acceptable_code_bisim d.rel hh ω _ (hr.hosted (requiredStreams_hosted _ hh)) hr.acceptable

/-- Its schedules are exactly the correct ones. -/
theorem synchronized_traces (d : Deps Q) (hd : d.Valid) (ω : Control) (P : Program E Q) {host : Q → E}
    (hh : Hosted host (unroll ω P [])) (tr : List (Event E Q)) :
    Traces (Machine ω (synchronized d P)) tr ↔ InOrder (unroll ω P []) tr ∧ Respects d.rel (unroll ω P []) tr :=
  ((synchronized_bisim d hd ω P hh).traces tr).trans (spec_traces _ _ _)

/-- It never deadlocks. -/
theorem synchronized_live (d : Deps Q) (hd : d.Valid) (ω : Control) (P : Program E Q) {host : Q → E}
    (hh : Hosted host (unroll ω P [])) : Live (Machine ω (synchronized d P)) (Done (unroll ω P [])) :=
  (synchronized_bisim d hd ω P hh).live (spec_live _ _ hh)

end Headway
end
