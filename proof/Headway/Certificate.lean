module
public import Headway.Facts
@[expose] public noncomputable section

/-!
# Certificates: one whose every step is accepted is right

`headway check --certificate` runs all engines in one joint order beside the sequential program and follows the facts of file `Facts`.

* `Walk D ω P I J`: the certificate is accepted, from `I` to `J`. A wait asks for the past, each conflicting access before an instance is known
  to be complete, what is claimed of a loop holds where it is entered and again after each turn.
* `walk_sound`: then every move is right, in every run.
* `certificate_never_early`, `certificate_live`: so no instance is early, and no wait stands for ever.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q] {host : Q → E}

/-! ## A certificate is walked through -/

/-- The joint order of all engines: the program, and between its instructions the waits. What a wait names in a run comes from registers; here it
is any number that the iterations and the moves before determine. -/
inductive Joint (E Q : Type) where
  | skip
  | wait (e : E) (q : Q) (x : List Nat → List (Move E Q) → Nat)
  | instr (i : Nat) (e : E) (q : Option Q)
  | seq (a b : Joint E Q)
  | branch (site : Nat) (a b : Joint E Q)
  | loop (site : Nat) (body : Joint E Q)

/-- The sequential program in it. -/
def Joint.program : Joint E Q → Program E Q
  | .skip => .skip
  | .wait _ _ _ => .skip
  | .instr i e q => .instr i e q
  | .seq a b => .seq a.program b.program
  | .branch k a b => .branch k a.program b.program
  | .loop k s => .loop k s.program

def iterateMoves (f : Nat → List (Move E Q) → List (Move E Q)) : Nat → Nat → List (Move E Q) → List (Move E Q)
  | 0, _, _ => []
  | n + 1, j, h => f j h ++ iterateMoves f n (j + 1) (h ++ f j h)

/-- The moves of a run, in iteration `v`, after the moves `h`. -/
def Joint.moves (ω : Control) : Joint E Q → List Nat → List (Move E Q) → List (Move E Q)
  | .skip, _, _ => []
  | .wait e q x, v, h => [.wait e q (x v h)]
  | .instr i e q, v, _ => [.issue ⟨i, e, q, v⟩]
  | .seq a b, v, h => a.moves ω v h ++ b.moves ω v (h ++ a.moves ω v h)
  | .branch k a b, v, h => if ω k v = 0 then b.moves ω v h else a.moves ω v h
  | .loop k s, v, h => iterateMoves (fun j => s.moves ω (j :: v)) (ω k v) 0 h

/-- The order runs the sequential program as it is written. -/
theorem issues_moves (ω : Control) (P : Joint E Q) : ∀ v h, issues (P.moves ω v h) = unroll ω P.program v := by
  induction P with
  | skip => intro v h; rfl
  | wait e q x => intro v h; rfl
  | instr i e q => intro v h; rfl
  | seq a b iha ihb => intro v h; simp only [Joint.moves, Joint.program, unroll, issues_append, iha, ihb]
  | branch k a b iha ihb =>
    intro v h
    simp only [Joint.moves, Joint.program, unroll]
    split
    · exact ihb v h
    · exact iha v h
  | loop k s ih =>
    intro v h
    have turns : ∀ n j h, issues (iterateMoves (fun j => s.moves ω (j :: v)) n j h) =
        iterate (fun j => unroll ω s.program (j :: v)) n j := by
      intro n
      induction n with
      | zero => intro j h; rfl
      | succ n ihn => intro j h; simp only [iterateMoves, iterate, issues_append, ih, ihn]
    exact turns _ _ _

/-- The states that a certificate gives for a point: in these iterations, after these moves. -/
abbrev States (E Q : Type) := List Nat → List (Move E Q) → Facts E Q → Prop

/-- The order `P` is accepted, from the states `I` to `J`. -/
inductive Walk (D : DepRel E Q) (ω : Control) : Joint E Q → States E Q → States E Q → Prop
  | skip {I : States E Q} : Walk D ω .skip I I
  /-- A wait asks for the past. -/
  | wait {e : E} {q : Q} {x : List Nat → List (Move E Q) → Nat} {I J : States E Q} :
      (∀ v h f, I v h f → x v h ≤ signals q (issues h) ∧ J v (h ++ [.wait e q (x v h)]) (f.waited e q (x v h))) →
      Walk D ω (.wait e q x) I J
  /-- Each conflicting access before is known to be complete. -/
  | instr {i : Nat} {e : E} {q : Option Q} {I J : States E Q} :
      (∀ v h f, I v h f → f.Cover D ⟨i, e, q, v⟩ ∧ J v (h ++ [.issue ⟨i, e, q, v⟩]) (f.issued (issues h) ⟨i, e, q, v⟩)) →
      Walk D ω (.instr i e q) I J
  | seq {a b : Joint E Q} {I H J : States E Q} : Walk D ω a I H → Walk D ω b H J → Walk D ω (.seq a b) I J
  | branch {k : Nat} {a b : Joint E Q} {I J : States E Q} : Walk D ω a (fun v h f => I v h f ∧ ω k v ≠ 0) J →
      Walk D ω b (fun v h f => I v h f ∧ ω k v = 0) J → Walk D ω (.branch k a b) I J
  /-- The states of a head hold where the loop is entered and again after each turn. -/
  | loop {k : Nat} {s : Joint E Q} {I J : States E Q} (head : Nat → States E Q) : (∀ v h f, I v h f → head 0 v h f) →
      Walk D ω s (fun v h f => ∃ j u, v = j :: u ∧ j < ω k u ∧ head j u h f)
        (fun v h f => ∃ j u, v = j :: u ∧ head (j + 1) u h f) →
      (∀ v h f, head (ω k v) v h f → J v h f) → Walk D ω (.loop k s) I J
  /-- States follow from others, where paths meet and at heads. -/
  | weaken {P : Joint E Q} {I I' J J' : States E Q} : (∀ v h f, I v h f → ∃ f', f.Weaker f' ∧ I' v h f') →
      Walk D ω P I' J' → (∀ v h f, J' v h f → ∃ f', f.Weaker f' ∧ J v h f') → Walk D ω P I J

/-- What is right about a move after the moves `h`. -/
def Right (D : DepRel E Q) (h : List (Move E Q)) : Move E Q → Prop
  | .wait _ q x => x ≤ signals q (issues h)
  | .issue c => ∀ q, Knows h c.engine q (required D (issues h) c q)

/-- Every move of an accepted order is right, in every run. -/
theorem walk_sound {D : DepRel E Q} {ω : Control} {P : Joint E Q} {I J : States E Q} (w : Walk D ω P I J) :
    ∀ v h f, I v h f → Holds h f →
      (∀ a mv b, P.moves ω v h = a ++ mv :: b → Right D (h ++ a) mv) ∧
      ∃ f', J v (h ++ P.moves ω v h) f' ∧ Holds (h ++ P.moves ω v h) f' := by
  have join : ∀ (h l m : List (Move E Q)), (∀ a mv b, l = a ++ mv :: b → Right D (h ++ a) mv) →
      (∀ a mv b, m = a ++ mv :: b → Right D ((h ++ l) ++ a) mv) → ∀ a mv b, l ++ m = a ++ mv :: b → Right D (h ++ a) mv := by
    intro h l m hl hm a mv b hs
    rcases split_append hs with ⟨b', h1⟩ | ⟨a', h1, h2⟩
    · exact hl a mv b' h1
    · rw [h1, ← List.append_assoc]; exact hm a' mv b h2
  have one : ∀ (h : List (Move E Q)) (x : Move E Q), Right D h x → ∀ a mv b, [x] = a ++ mv :: b → Right D (h ++ a) mv := by
    intro h x hx a mv b hs
    cases a with
    | nil => simp only [List.nil_append, List.cons.injEq] at hs; rw [← hs.1]; simpa using hx
    | cons y a => simp at hs
  induction w with
  | skip =>
    intro v h f hI hf
    exact ⟨fun a mv b hs => by simp [Joint.moves] at hs, f, by simpa [Joint.moves] using hI, by simpa [Joint.moves] using hf⟩
  | wait hw =>
    intro v h f hI hf
    obtain ⟨h1, h2⟩ := hw v h f hI
    exact ⟨one h _ h1, _, h2, waited_holds hf _ _ _⟩
  | instr hw =>
    intro v h f hI hf
    obtain ⟨h1, h2⟩ := hw v h f hI
    exact ⟨one h _ (fun q => cover_knows hf h1 q), _, h2, issued_holds hf _⟩
  | seq _ _ iha ihb =>
    intro v h f hI hf
    obtain ⟨h1, f1, h2, h3⟩ := iha v h f hI hf
    obtain ⟨h4, f2, h5, h6⟩ := ihb v _ f1 h2 h3
    simp only [Joint.moves]
    rw [← List.append_assoc]
    exact ⟨join h _ _ h1 h4, f2, h5, h6⟩
  | branch _ _ iha ihb =>
    intro v h f hI hf
    simp only [Joint.moves]
    split
    · rename_i h0; exact ihb v h f ⟨hI, h0⟩ hf
    · rename_i h0; exact iha v h f ⟨hI, h0⟩ hf
  | @loop k s I J head h0 _ hJ ih =>
    intro v h f hI hf
    have turns : ∀ n j h f, j + n = ω k v → head j v h f → Holds h f →
        (∀ a mv b, iterateMoves (fun j => s.moves ω (j :: v)) n j h = a ++ mv :: b → Right D (h ++ a) mv) ∧
        ∃ f', head (j + n) v (h ++ iterateMoves (fun j => s.moves ω (j :: v)) n j h) f' ∧
          Holds (h ++ iterateMoves (fun j => s.moves ω (j :: v)) n j h) f' := by
      intro n
      induction n with
      | zero =>
        intro j h f _ hj hf
        exact ⟨fun a mv b hs => by simp [iterateMoves] at hs, f, by simpa [iterateMoves] using hj,
          by simpa [iterateMoves] using hf⟩
      | succ n ihn =>
        intro j h f hn hj hf
        obtain ⟨h1, f1, ⟨j', u, huv, h2⟩, h3⟩ := ih (j :: v) h f ⟨j, v, rfl, by omega, hj⟩ hf
        simp only [List.cons.injEq] at huv
        obtain ⟨rfl, rfl⟩ := huv
        obtain ⟨h4, f2, h5, h6⟩ := ihn (j + 1) _ f1 (by omega) h2 h3
        have : j + (n + 1) = j + 1 + n := by omega
        rw [this]
        simp only [iterateMoves]
        rw [← List.append_assoc]
        exact ⟨join h _ _ h1 h4, f2, h5, h6⟩
    obtain ⟨h1, f1, h2, h3⟩ := turns (ω k v) 0 h f (by omega) (h0 v h f hI) hf
    rw [Nat.zero_add] at h2
    exact ⟨h1, f1, hJ _ _ _ h2, h3⟩
  | weaken hI _ hJ ih =>
    intro v h f hi hf
    obtain ⟨f1, hw1, hi1⟩ := hI v h f hi
    obtain ⟨h1, f2, h2, h3⟩ := ih v h f1 hi1 (weaker_holds hw1 hf)
    obtain ⟨f3, hw3, hj3⟩ := hJ v _ f2 h2
    exact ⟨h1, f3, hj3, weaker_holds hw3 h3⟩

/-! ## Never early, no deadlock -/

/-- All thresholds ask for the past. -/
theorem right_past {D : DepRel E Q} {ms : List (Move E Q)} (hr : ∀ a mv b, ms = a ++ mv :: b → Right D a mv)
    (h : List (Move E Q)) : ∀ rest, ms = h ++ rest → ∀ e q x, (q, x) ∈ passed (fun _ => []) h e → x ≤ signals q (issues h) := by
  induction h using snoc_induction with
  | nil => intro rest _ e q x hm; simp [passed] at hm
  | snoc h mv ih =>
    intro rest hs e q x hm
    have hs' : ms = h ++ mv :: rest := by simp [hs]
    have ih := ih _ hs'
    have hmv := hr h mv rest hs'
    rw [passed_append] at hm
    rw [issues_append, signals_append]
    cases mv with
    | wait a p y =>
      simp only [passed] at hm
      by_cases ha : e = a
      · subst ha
        rw [update_same] at hm
        rcases List.mem_cons.mp hm with hm | hm
        · simp only [Prod.mk.injEq] at hm
          obtain ⟨rfl, rfl⟩ := hm
          exact Nat.le_trans hmv (Nat.le_add_right _ _)
        · exact Nat.le_trans (ih _ q x hm) (Nat.le_add_right _ _)
      · rw [update_ne _ _ ha] at hm
        exact Nat.le_trans (ih e q x hm) (Nat.le_add_right _ _)
    | issue c =>
      simp only [passed] at hm
      by_cases hc : e = c.engine
      · subst hc; rw [update_same] at hm; simp at hm
      · rw [update_ne _ _ hc] at hm
        exact Nat.le_trans (ih e q x hm) (Nat.le_add_right _ _)

/-- What is required is known to every instance of moves that are right. -/
theorem right_knownIn {D : DepRel E Q} {ms : List (Move E Q)} (hh : Hosted host (issues ms))
    (hr : ∀ a mv b, ms = a ++ mv :: b → Right D a mv) :
    KnownIn host (requiredStreams D (issues ms)) (streamsOf (placement ms)) := by
  intro e n c g hw
  obtain ⟨la, lb, hl, rfl, hn⟩ := streamsOf_place hw
  obtain ⟨a, b, h1, h2, _⟩ := annotate_place hl
  rw [← h2] at hn
  refine ⟨required D (issues a) c, ?_, fun q => ?_⟩
  · refine (requiredStreams_get ..).mpr ⟨issues a, issues b, ?_, rfl, hn, rfl⟩
    rw [h1, issues_append]; rfl
  · rw [← hn]
    exact knows_known hh (hr a _ b h1 q) c b h1 rfl

/-- A placement under which all that is required is known has only correct schedules. -/
theorem knownIn_correct {D : DepRel E Q} {T : List (Instance E Q)} {w : E → Stream E Q} (hw : StreamsHosted host w)
    (h : KnownIn host (requiredStreams D T) w) (tr : List (Event E Q)) (ht : Traces (Guarded w) tr) :
    InOrder T tr ∧ Respects D T tr := by
  have hnt : ∀ s t, ¬ (Guarded w).step s none t := fun _ _ => guarded_no_silent
  have follow : ∀ tr (s s' : Counts E Q), WaitsHold host w s → Run (Guarded w) s tr s' →
      Run (Guarded (requiredStreams D T)) s tr s' := by
    intro tr
    induction tr with
    | nil => intro s s' _ hr; rw [Run.nil_inv hnt hr]; exact .nil _
    | cons a tr ih =>
      intro s s' hi hr
      obtain ⟨t, h1, h2⟩ := Run.cons_inv hnt hr
      refine .vis ?_ (ih t s' (waitsHold_step hw hi h1) h2)
      cases h1 with
      | issue e c g hg he hle =>
        obtain ⟨g1, hg1, hk⟩ := h e _ c g hg
        refine .issue e c g1 hg1 he (fun q => known_holds hi (hk q) (.inr ⟨rfl, ?_⟩))
        intro c' g' hg'
        rw [hg] at hg'
        simp only [Option.some.injEq, Prod.mk.injEq] at hg'
        rw [← hg'.2]; exact hle
      | complete q hq => exact .complete q hq
  obtain ⟨s, hs⟩ := ht
  have : Traces (Guarded (requiredStreams D T)) tr := ⟨s, follow tr _ s (waitsHold_zero host w) hs⟩
  exact (spec_traces D T tr).mp (((spec_bisim_guarded D T).traces tr).mpr this)

/-- If, besides, every threshold asks for the past, nothing ever stands for ever. -/
theorem past_live {D : DepRel E Q} {T : List (Instance E Q)} {w : E → Stream E Q} (hh : Hosted host T)
    (correct : ∀ tr, Traces (Guarded w) tr → InOrder T tr ∧ Respects D T tr)
    (past : ∀ pre c post, T = pre ++ c :: post → ∃ g, (w c.engine)[turns c.engine pre]? = some (c, g) ∧
      ∀ q, g q ≤ signals q pre) : Live (Guarded w) (Done T) := by
  intro tr s hr hd
  have hok : AllFollow D T [] tr := (allFollow_iff D T tr).mpr (correct tr ⟨s, hr⟩)
  obtain ⟨_, hs⟩ := (guarded_run_iff w [] tr s).mp hr
  simp at hs
  subst hs
  obtain ⟨hb1, hb2⟩ := follow_bounds hok
  suffices h : ∃ a, MayFollowGuarded w tr a by
    obtain ⟨a, ha⟩ := h
    exact ⟨a, _, .of_step ((guardedStep_counts w tr a _).mpr ⟨ha, rfl⟩)⟩
  by_cases hc : ∃ q, completed q tr < started q tr
  · obtain ⟨q, hq⟩ := hc
    exact ⟨.complete q, hq⟩
  · have heq : ∀ q, completed q tr = started q tr := by
      intro q
      have := hb1 q
      have : ¬ completed q tr < started q tr := fun h => hc ⟨q, h⟩
      omega
    rcases first_unissued (fun e => issued e tr) [] T (by simp) with h | ⟨a, c, b, h1, h2, h3⟩
    · exfalso
      simp only [List.nil_append] at h
      refine hd ⟨fun e => Nat.le_antisymm (hb2 e) (h e), fun q => ?_⟩
      rw [heq]
      exact Nat.le_antisymm (started_le_signals hh hok q)
        (signals_le_started hh hok (post := []) (by simp) q (h _))
    · obtain ⟨g, hg, hle⟩ := past a c b h1
      refine ⟨.issue c, g, ?_, fun q => ?_⟩
      · simp only [List.nil_append] at h3
        rw [h3]; exact hg
      · rw [heq]
        exact Nat.le_trans (hle q) (signals_le_started hh hok (pre := a) (post := c :: b) h1 q (by simpa using h2 _))

/-- The certificate is accepted from the beginning on. -/
def Accepted (D : DepRel E Q) (ω : Control) (P : Joint E Q) : Prop :=
  ∃ J : States E Q, Walk D ω P (fun v h f => v = [] ∧ h = [] ∧ f = .beginning) J

theorem accepted_right {D : DepRel E Q} {ω : Control} {P : Joint E Q} (hP : Accepted D ω P) :
    ∀ a mv b, P.moves ω [] [] = a ++ mv :: b → Right D a mv := by
  obtain ⟨J, hw⟩ := hP
  intro a mv b hs
  simpa using (walk_sound hw [] [] .beginning ⟨rfl, rfl, rfl⟩ beginning_holds).1 a mv b hs

/-- The engine programs are the parts of the order. -/
def RunsParts (ω : Control) (code : E → Code Q) (P : Joint E Q) : Prop :=
  ∀ e, (run ω e (code e) [] .zero).1 = effectsOf e (P.moves ω [] [])

theorem accepted_machine {ω : Control} {code : E → Code Q} {P : Joint E Q} (hc : RunsParts ω code P) :
    Bisimilar (Machine ω code) (Guarded (streamsOf (placement (P.moves ω [] [])))) := by
  have hw : (fun e => stream ω e (code e)) = streamsOf (placement (P.moves ω [] [])) := by
    funext e
    rw [stream, hc e]
    exact group_effectsOf (fun _ => []) e _
  have := machine_bisim_guarded ω code
  rwa [hw] at this

/-- A program with an accepted certificate has only correct schedules: no instance is ever early. -/
theorem certificate_never_early {D : DepRel E Q} {ω : Control} {code : E → Code Q} {P : Joint E Q}
    (hh : Hosted host (unroll ω P.program [])) (hP : Accepted D ω P) (hc : RunsParts ω code P) (tr : List (Event E Q))
    (ht : Traces (Machine ω code) tr) : InOrder (unroll ω P.program []) tr ∧ Respects D (unroll ω P.program []) tr := by
  rw [← issues_moves ω P [] []] at hh ⊢
  have ht := ((accepted_machine hc).traces tr).mp ht
  refine knownIn_correct (host := host) (streamsOf_hosted _ ?_) (right_knownIn hh (accepted_right hP)) tr ht
  rw [placement, annotate_map]; exact hh

/-- And it never deadlocks. -/
theorem certificate_live {D : DepRel E Q} {ω : Control} {code : E → Code Q} {P : Joint E Q}
    (hh : Hosted host (unroll ω P.program [])) (hP : Accepted D ω P) (hc : RunsParts ω code P) :
    Live (Machine ω code) (Done (unroll ω P.program [])) := by
  refine (accepted_machine hc).live ?_
  have hcorrect := fun tr ht => certificate_never_early hh hP hc tr (((accepted_machine hc).traces tr).mpr ht)
  have hr := accepted_right hP
  rw [← issues_moves ω P [] []] at hh hcorrect ⊢
  refine past_live hh hcorrect ?_
  intro pre c post hT
  have hm : (placement (P.moves ω [] [])).map Prod.fst = pre ++ c :: post := by rw [placement, annotate_map, hT]
  obtain ⟨la, lr, hl, ha, hr'⟩ := List.map_eq_append_iff.mp hm
  obtain ⟨x, lb, rfl, hx, _⟩ := List.map_eq_cons_iff.mp hr'
  obtain ⟨c', g⟩ := x
  simp only at hx
  subst hx
  obtain ⟨a, b, h1, h2, h3⟩ := annotate_place hl
  refine ⟨g, ?_, fun q => ?_⟩
  · rw [← ha, hl]; exact streamsOf_get la c' g lb
  · rw [h3, threshold_le_iff]
    rintro ⟨p, x⟩ hx hp
    simp only at hp
    subst hp
    rw [← ha, ← h2]
    exact right_past hr a _ h1 c'.engine p x hx

end Headway
end
