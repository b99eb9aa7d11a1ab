% What kanon runs inside SWI-Prolog for files in XTL. ASCII only: it is read from a pipe.
%
% A program defines start/1, trans/3 and prop/2. Nothing of it runs while it is read: clauses are read as terms and
% stored in the module xtl, the few directives that are known are carried out here, and all others are refused. Then the
% goals that start/1, trans/3 and prop/2 can reach are looked at, with a list of predicates that do nothing but compute
% (pure/1, meta/2): a state must have the same successors whenever somebody asks, so what writes, reads, remembers, draws
% lots or looks at a clock is refused, as is a goal that is only known when it runs. library(sandbox) is asked, too.
%
% Requests and answers are lines with the lengths of the bytes that follow them (see process.rs).

:- module(kanon_xtl, [serve/0, xtl_catch/3]).

:- use_module(library(lists)).
:- use_module(library(apply)).
:- use_module(library(readutil)).
:- use_module(library(sandbox)).
:- use_module(library(aggregate)).

:- meta_predicate xtl_catch(0, ?, 0).
:- multifile sandbox:safe_meta_predicate/1.
sandbox:safe_meta_predicate(kanon_xtl:xtl_catch/3).

:- dynamic
    clause_of/5,        % Name, Arity, Head, Body, Place
    asked/2,            % Number, property
    pattern/2,          % Number, pattern
    label/2,            % a trie
    limit/2,            % what, how much
    included/1,
    unknown_in/2,       % Name, Arity: its goals are known only with its arguments
    seen_pred/2, seen_goal/1, complaint/2.

% --- the conversation ------------------------------------------------------------------------------------------------

serve :-
    set_stream(user_output, encoding(octet)),
    set_stream(user_output, buffer(full)),
    set_stream(user_output, newline(posix)),
    set_stream(user_input, newline(posix)),
    set_stream(user_input, tty(false)),
    set_stream(user_input, encoding(octet)),
    prompt(_, ''),
    trie_new(T),
    assertz(label(T, trie)),
    flag(labels, _, 0),
    set_prolog_flag(xtl:double_quotes, codes),
    repeat,
    read_line_to_string(user_input, Line),
    (   Line == end_of_file
    ->  !
    ;   split_string(Line, " ", "", [Word|Rest]),
        maplist([S,N]>>number_string(N, S), Rest, Numbers),
        atom_string(Request, Word),
        request(Request, Numbers),
        flush_output(user_output),
        fail
    ).

payload(Length, Bytes) :-
    read_string(user_input, Length, Bytes).

text_payload(Length, Text) :-
    payload(Length, Bytes),
    string_codes(Bytes, Codes),
    string_bytes(Text, Codes, utf8).

% Texts of faults may be as long as a state.
text_frame(Kind, Numbers, Text) :-
    string_bytes(Text, Bytes, utf8),
    length(Bytes, Length),
    atomic_list_concat([Kind|Numbers], ' ', Start),
    format(user_output, "~w ~d~n~s", [Start, Length, Bytes]).

frame(Line) :-
    format(user_output, "~w~n", [Line]).

request(limit, [Inferences, Solutions]) :-
    retractall(limit(_, _)),
    assertz(limit(inferences, Inferences)),
    assertz(limit(solutions, Solutions)).
request(load, [NameLength, TextLength]) :-
    text_payload(NameLength, Name),
    text_payload(TextLength, Text),
    guarded(( load_text(Name, Text), examine )),
    forall(called_in_a_head(Name2), text_frame(o, [], Name2)),
    report,
    frame(e).
request(property, [Length]) :-
    text_payload(Length, Text),
    question(Text, Answer),
    (   Answer = wrong(Why)
    ->  text_frame(x, [], Why)
    ;   Answer = term(Term),
        aggregate_all(count, asked(_, _), N),
        assertz(asked(N, Term)),
        frame(e)
    ).
request(pattern, [Length]) :-
    text_payload(Length, Text),
    question(Text, Answer),
    (   Answer = wrong(Why)
    ->  text_frame(x, [], Why)
    ;   Answer = term(Term),
        aggregate_all(count, pattern(_, _), N),
        assertz(pattern(N, Term)),
        frame(e)
    ).
request(start, []) :-
    limited(start(S), start(S), S, none).
request(next, [Length]) :-
    payload(Length, Blob),
    fast_term_serialized(S, Blob),
    limited(trans(L, S, T), trans(_, S, _), T, some(L)).
request(hold, [Length]) :-
    payload(Length, Blob),
    fast_term_serialized(S, Blob),
    limit(inferences, Most),
    flag(mask, _, 0),
    catch(
        (   forall(asked(N, P), hold(N, P, S, Most)) ),
        E,
        true),
    (   var(E)
    ->  flag(mask, Mask, Mask),
        format(user_output, "p ~d~n", [Mask])
    ;   E = xtl_fault(Goal, Why)
    ->  fault(Goal, Why)
    ;   fault(prop(S, _), E)
    ).
request(text, [Length]) :-
    payload(Length, Blob),
    fast_term_serialized(S, Blob),
    shown(S, Text),
    text_frame(v, [], Text).

% What transitions are called where the clauses of trans/3 say it.
called_in_a_head(Text) :-
    clause_of(trans, 3, trans(L, _, _), _, _),
    nonvar(L),
    (   compound(L) -> compound_name_arity(L, Name, _) ; Name = L ),
    format(string(Text), "~w", [Name]).

hold(N, P, S, Most) :-
    copy_term(P, Q),
    (   catch(call_with_inference_limit(\+ \+ xtl:prop(S, Q), Most, Result), E, true)
    ->  (   nonvar(E)
        ->  throw(xtl_fault(prop(S, P), E))
        ;   Result == inference_limit_exceeded
        ->  throw(xtl_fault(prop(S, P), inference_limit_exceeded))
        ;   flag(mask, M, M \/ (1 << N))
        )
    ;   true
    ).

% All solutions of a goal, as they are found.
limited(Goal, Shown, State, Label) :-
    limit(inferences, Most),
    limit(solutions, MostSolutions),
    flag(solutions, _, 0),
    catch(
        call_with_inference_limit(( xtl:Goal, solution(Goal, State, Label, MostSolutions), fail ; true ), Most, Result),
        E,
        true),
    (   nonvar(E)
    ->  (   E = xtl_fault(Where, Why)
        ->  fault(Where, Why)
        ;   fault(Shown, E)
        )
    ;   Result == inference_limit_exceeded
    ->  fault(Shown, inference_limit_exceeded)
    ;   frame(e)
    ).

solution(Goal, State, Label, Most) :-
    flag(solutions, N, N+1),
    (   N >= Most
    ->  throw(xtl_fault(Goal, solutions(Most)))
    ;   \+ acyclic_term(Goal)
    ->  throw(xtl_fault(a_cyclic_term, cyclic))
    ;   term_attvars(Goal, [_|_])
    ->  throw(xtl_fault(Goal, attributed))
    ;   \+ ground(State)
    ->  throw(xtl_fault(Goal, unbound))
    ;   true
    ),
    (   Label = some(L)
    ->  label_number(L, Goal, Number)
    ;   Number = 0
    ),
    catch(fast_term_serialized(State, Blob), _, throw(xtl_fault(Goal, unserializable))),
    string_length(Blob, Length),
    format(user_output, "t ~d ~d~n", [Number, Length]),
    write(user_output, Blob).

label_number(L, Goal, Number) :-
    (   callable(L)
    ->  true
    ;   number(L)
    ->  true
    ;   string(L)
    ->  true
    ;   throw(xtl_fault(Goal, label))
    ),
    label(Trie, trie),
    (   trie_lookup(Trie, L, Number)
    ->  true
    ;   flag(labels, Number, Number+1),
        catch(trie_insert(Trie, L, Number), _, throw(xtl_fault(Goal, label))),
        findall(Bit, ( pattern(N, P), fits(P, L), Bit is 1 << N ), Bits),
        sum_list(Bits, Mask),
        (   compound(L) -> compound_name_arity(L, Name, _) ; Name = L ),
        format(string(NameText), "~w", [Name]),
        shown(L, Text),
        string_bytes(NameText, NameBytes, utf8),
        length(NameBytes, NameLength),
        string_bytes(Text, TextBytes, utf8),
        length(TextBytes, TextLength),
        format(user_output, "l ~d ~d ~d~n~s~s", [Mask, NameLength, TextLength, NameBytes, TextBytes])
    ).

% `[name]` is any label with this name, `[name(a, _)]` one that is an instance of it.
fits(P, L) :- atom(P), !, ( L == P -> true ; compound(L), compound_name_arity(L, P, _) ).
fits(P, L) :- subsumes_term(P, L).

shown(T, Text) :-
    \+ \+ ( copy_term(T, C, _),
            numbervars(C, 0, _),
            with_output_to(string(S), write_term(C, [quoted(true), numbervars(true), spacing(next_argument), module(xtl)])),
            nb_setval(kanon_shown, S) ),
    nb_getval(kanon_shown, Text).

fault(Goal, Why) :-
    (   acyclic_term(Goal) -> shown(Goal, GoalText) ; GoalText = "a cyclic term" ),
    catch(because(Why, Because), _, Because = "an error without a text"),
    format(string(Text), "~w: ~w", [GoalText, Because]),
    text_frame(x, [], Text).

because(inference_limit_exceeded, Text) :- !,
    limit(inferences, N),
    format(string(Text), "more than ~D inferences", [N]).
because(solutions(N), Text) :- !,
    format(string(Text), "more than ~D solutions", [N]).
because(unbound, "the state has unbound variables") :- !.
because(cyclic, "the solution is a cyclic term") :- !.
because(attributed, "the solution has constraints that are not solved") :- !.
because(unserializable, "the state has parts that are no terms, such as streams") :- !.
because(label, "what a transition is called must be a term that is not a variable") :- !.
because(error(resource_error(What), _), Text) :- !,
    format(string(Text), "not enough memory (~w)", [What]).
because(error(syntax_error(What), _), Text) :- !,
    format(string(Text), "this is no Prolog: ~w", [What]).
because(error(E, context(Where, _)), Text) :-
    nonvar(Where), !,
    ( Where = system:PI -> true ; Where = xtl:PI -> true ; PI = Where ),
    shown(E, T),
    format(string(Text), "~w in ~q", [T, PI]).
because(error(E, _), Text) :- !,
    shown(E, Text).
because(E, Text) :-
    shown(E, T),
    format(string(Text), "the exception ~w", [T]).

% A property or a pattern that somebody asks for.
question(Text, Answer) :-
    catch(term_string(T, Text, [module(xtl)]), E, true),
    (   nonvar(E) -> because(E, Why), Answer = wrong(Why)
    ;   var(T) -> Answer = wrong("a variable")
    ;   Answer = term(T)
    ).

% --- reading a program -----------------------------------------------------------------------------------------------

% Mistakes are collected, with their places: File-Line-Column.
guarded(Goal) :-
    catch(Goal, E, ( because(E, Text), complain(none, Text) )).

complain(Place, Text) :- assertz(complaint(Place, Text)).

report :-
    forall(retract(complaint(Place, Text)), reported(Place, Text)).

reported(Place, Text) :-
    (   Place = at(File, Line, Column) -> true ; File = "", Line = 0, Column = 0 ),
    format(string(Both), "~w~n~w", [File, Text]),
    text_frame(d, [Line, Column], Both).

load_text(Name, Text) :-
    assertz(included(Name)),
    setup_call_cleanup(
        open_string(Text, In),
        load_terms(Name, In),
        close(In)).

load_terms(Name, In) :-
    repeat,
    catch(read_term(In, Term, [ module(xtl), term_position(Pos), variable_names(_), syntax_errors(error),
                                cycles(false), dotlists(false) ]), E, true),
    (   nonvar(E)
    ->  syntax(Name, E), fail
    ;   Term == end_of_file
    ->  !
    ;   stream_position_data(line_count, Pos, Line),
        stream_position_data(line_position, Pos, Column),
        catch(take(Term, at(Name, Line, Column)), E2, ( because(E2, T), complain(at(Name, Line, Column), T) )),
        fail
    ).

syntax(Name, error(syntax_error(What), Context)) :- !,
    (   Context = stream(_, Line, Column, _) -> true
    ;   Context = string(_, _) -> Line = 1, Column = 0
    ;   Line = 1, Column = 0
    ),
    format(string(Text), "this is no Prolog: ~w", [What]),
    complain(at(Name, Line, Column), Text).
syntax(Name, E) :-
    because(E, Text),
    complain(at(Name, 1, 0), Text).

take(Term, Place) :-
    var(Term), !,
    complain(Place, "a variable is no clause").
take((:- D), Place) :- !,
    directive(D, Place).
take((?- _), Place) :- !,
    complain(Place, "a program is not asked questions while it is read").
take((H --> B), Place) :- !,
    dcg_translate_rule((H --> B), Clause),
    take(Clause, Place).
take((H :- B), Place) :- !,
    clause_of_program(H, B, Place).
take(H, Place) :-
    clause_of_program(H, true, Place).

clause_of_program(H, B, Place) :-
    (   var(H) ; \+ callable(H) ; H = _:_ ), !,
    shown((H :- B), Text),
    format(string(Why), "this is no clause: `~w`", [Text]),
    complain(Place, Why).
clause_of_program(H, B, Place) :-
    functor(H, Name, Arity),
    (   predicate_property(system:H, iso)
    ->  format(string(Why), "~w/~w is a predicate of Prolog", [Name, Arity]),
        complain(Place, Why)
    ;   reserved(Name/Arity)
    ->  format(string(Why), "~w/~w cannot be defined", [Name, Arity]),
        complain(Place, Why)
    ;   body(B, Body),
        (   predicate_property(system:H, defined), \+ clause_of(Name, Arity, _, _, _)
        ->  redefine_system_predicate(xtl:H)
        ;   true
        ),
        assertz(clause_of(Name, Arity, H, Body, Place)),
        assertz(xtl:(H :- Body))
    ).

reserved(term_expansion/_).
reserved(goal_expansion/_).
reserved((',')/2).
reserved((;)/2).
reserved((->)/2).
reserved((*->)/2).
reserved((:)/2).
reserved('|'/2).
reserved((\+)/1).
reserved(!/0).
reserved(xtl_catch/3).
reserved(catch/3).
reserved(portray/1).
reserved(exception_hook/_).
reserved(prolog_exception_hook/_).
reserved(Name/_) :- sub_atom(Name, 0, 1, _, $).

directive(D, Place) :-
    var(D), !,
    complain(Place, "a variable is no directive").
directive((A, B), Place) :- !,
    directive(A, Place),
    directive(B, Place).
directive(module(_, _), _) :- !.
directive(dynamic(D), Place) :- !, declared(D, Place).
directive(discontiguous(_), _) :- !.
directive(use_module(library(L)), Place) :- !, library(L, Place).
directive(use_module(library(L), _), Place) :- !, library(L, Place).
directive(ensure_loaded(library(L)), Place) :- !, library(L, Place).
directive(set_prolog_flag(double_quotes, V), Place) :- !,
    (   memberchk(V, [codes, chars, atom, string])
    ->  set_prolog_flag(xtl:double_quotes, V)
    ;   complain(Place, "double quotes are codes, chars, atom or string")
    ).
directive(op(P, T, Names), Place) :- !,
    (   ground(op(P, T, Names)), names(Names), \+ P == 0
    ->  forall(name_of(N, Names), op(P, T, xtl:N))
    ;   complain(Place, "an operator has a priority, a type and a name")
    ).
directive(include(F), Place) :- !, include_file(F, Place).
directive(ensure_loaded(F), Place) :- !, include_file(F, Place).
directive(consult(F), Place) :- !, include_file(F, Place).
directive(use_module(F), Place) :- !, include_file(F, Place).
directive(use_module(F, _), Place) :- !, include_file(F, Place).
directive([F|Fs], Place) :- !,
    forall(member(X, [F|Fs]), include_file(X, Place)).
directive(D, Place) :-
    (   callable(D) -> functor(D, Name, Arity), format(string(What), "~w/~w", [Name, Arity]) ; What = D ),
    format(string(Why), "the directive ~w would run while the file is read: it is refused", [What]),
    complain(Place, Why).

names(N) :- atom(N), !.
names(Ns) :- is_list(Ns), maplist(atom, Ns).
name_of(N, N) :- atom(N), N \== [].
name_of(N, Ns) :- is_list(Ns), member(N, Ns).

declared(D, Place) :-
    (   var(D) -> complain(Place, "a variable is no predicate")
    ;   D = (A, B) -> declared(A, Place), declared(B, Place)
    ;   is_list(D) -> forall(member(X, D), declared(X, Place))
    ;   D = Name/Arity, atom(Name), integer(Arity), Arity >= 0, Arity < 100
    ->  functor(H, Name, Arity),
        (   ( predicate_property(system:H, defined) ; reserved(Name/Arity) )
        ->  format(string(Why), "~w/~w cannot be defined", [Name, Arity]),
            complain(Place, Why)
        ;   dynamic(xtl:Name/Arity),
            assertz(clause_of(Name, Arity, H, fail, Place))
        )
    ;   complain(Place, "a predicate is written name/arity")
    ).

library(L, Place) :-
    (   memberchk(L, [lists, apply, pairs, ordsets, assoc, between, terms, dcg/basics, ugraphs, aggregate, samsort, types, option])
    ->  true
    ;   format(string(Why), "library(~w) is not among those that a program may use: lists, apply, pairs, ordsets, \c
assoc, ugraphs, aggregate, dcg/basics", [L]),
        complain(Place, Why)
    ).

include_file(F, Place) :-
    (   atom(F) -> true ; string(F) ), !,
    Place = at(From, _, _),
    format(string(Wanted), "~w~n~w", [From, F]),
    text_frame(f, [], Wanted),
    flush_output(user_output),
    read_line_to_string(user_input, Line),
    split_string(Line, " ", "", [Kind|Rest]),
    maplist([S,N]>>number_string(N, S), Rest, Numbers),
    (   Kind == "file"
    ->  Numbers = [NameLength, TextLength],
        text_payload(NameLength, Name),
        text_payload(TextLength, Text),
        (   included(Name) -> true ; load_text(Name, Text) )
    ;   Numbers = [WhyLength],
        text_payload(WhyLength, Why),
        complain(Place, Why)
    ).
include_file(_, Place) :-
    complain(Place, "a file is named by an atom").

% A body with the goals that are not run as they stand: catch/3 lets limits through, and what is printed goes nowhere.
body(V, V) :- var(V), !.
body((A, B), (A1, B1)) :- !, body(A, A1), body(B, B1).
body((A ; B), (A1 ; B1)) :- !, body(A, A1), body(B, B1).
body((A -> B), (A1 -> B1)) :- !, body(A, A1), body(B, B1).
body((A *-> B), (A1 *-> B1)) :- !, body(A, A1), body(B, B1).
body('|'(A, B), (A1 ; B1)) :- !, body(A, A1), body(B, B1).
body(\+ A, \+ A1) :- !, body(A, A1).
body(catch(G, E, R), xtl_catch(G1, E, R1)) :- !, body(G, G1), body(R, R1).
body(G, true) :- callable(G), functor(G, Name, Arity), printing(Name/Arity), \+ clause_of(Name, Arity, _, _, _), !.
body(V^G, V^G1) :- !, body(G, G1).
body(G, G1) :-
    callable(G),
    functor(G, Name, Arity),
    meta(Name/Arity, Specs), !,
    G =.. [_|Args],
    maplist(meta_body, Specs, Args, Args1),
    G1 =.. [Name|Args1].
body(G, G).

meta_body(Spec, A, A1) :- ( Spec == 0 ; Spec == ^ ), !, body(A, A1).
meta_body(_, A, A).

printing(PI) :-
    memberchk(PI, [ write/1, print/1, writeln/1, writeq/1, write_canonical/1, portray_clause/1, nl/0, tab/1, put_char/1,
                    display/1, write_term/2, format/1, format/2, flush_output/0, write/2, print/2, writeln/2,
                    writeq/2, nl/1, tab/2, put_char/2, format/3, flush_output/1, portray_clause/2, write_term/3 ]).

% Limits are nothing that a program can take for its own exceptions.
xtl_catch(Goal, Caught, Recovery) :-
    catch(Goal, E, true),
    (   var(E)
    ->  true
    ;   is_limit(E)
    ->  throw(E)
    ;   E = Caught
    ->  Recovery
    ;   throw(E)
    ).

is_limit(inference_limit_exceeded).
is_limit(time_limit_exceeded).
is_limit('$aborted').
is_limit(unwind(_)).
is_limit(error(resource_error(_), _)).
is_limit(xtl_fault(_, _)).

% --- what a program may do -------------------------------------------------------------------------------------------

examine :-
    (   complaint(_, _)
    ->  true
    ;   entry_points,
        (   complaint(_, _)
        ->  true
        ;   findall(Name/Arity, entry(Name, Arity), Entries),
            analyse(Entries),
            (   complaint(_, _) -> true ; forall(member(E, Entries), sandboxed(E)) )
        )
    ).

entry_points :-
    (   clause_of(start, 1, _, _, _) -> true
    ;   complain(none, "the program does not define start/1: its initial states")
    ),
    (   clause_of(trans, 3, _, _, _) -> true
    ;   complain(none, "the program does not define trans/3: its transitions")
    ),
    (   clause_of(prop, 2, _, _, _) -> true
    ;   dynamic(xtl:prop/2),
        assertz(clause_of(prop, 2, prop(_, _), fail, none))
    ).

entry(start, 1).
entry(trans, 3).
entry(prop, 2).

sandboxed(Name/Arity) :-
    functor(G, Name, Arity),
    catch(safe_goal(xtl:G), E, true),
    (   var(E)
    ->  true
    ;   because(E, Text),
        format(string(Why), "library(sandbox) refuses ~w/~w: ~w", [Name, Arity, Text]),
        complain(none, Why)
    ).

% A predicate is looked at once, with any arguments. Where a goal of its clauses is then unknown, it is looked at once for
% each call instead, with the arguments of the call. That a predicate is such a one may be found when others have been
% looked at already, so it is begun anew then.
analyse(Entries) :-
    retractall(seen_pred(_, _)),
    retractall(seen_goal(_)),
    % What is caught has names of its own: it is looked for while the others are bound.
    catch(( forall(member(N/A, Entries), look_at(N, A)), Again = no ),
          needs_arguments(Name, Arity, Goal, Place),
          Again = yes),
    (   Again == no
    ->  true
    ;   memberchk(Name/Arity, Entries)
    ->  unknown_goal(Goal, Place)
    ;   assertz(unknown_in(Name, Arity)),
        retractall(complaint(_, _)),
        analyse(Entries)
    ).

unknown_goal(Goal, Place) :-
    shown(Goal, Text),
    format(string(Why), "the goal `~w` is only known when it runs: write out which goals there are", [Text]),
    complain(Place, Why).

look_at(Name, Arity) :-
    (   seen_pred(Name, Arity)
    ->  true
    ;   assertz(seen_pred(Name, Arity)),
        forall(clause_of(Name, Arity, _, Body, Place), walk(Body, by(Name, Arity, 0, Place)))
    ).

walk(G, By) :- var(G), !, unknown(G, By).
walk(G, By) :- \+ callable(G), !, refuse(By, "`~q` is no goal", [G]).
walk(true, _) :- !.
walk(!, _) :- !.
walk((A, B), By) :- !, walk(A, By), walk(B, By).
walk((A ; B), By) :- !, walk(A, By), walk(B, By).
walk((A -> B), By) :- !, walk(A, By), walk(B, By).
walk((A *-> B), By) :- !, walk(A, By), walk(B, By).
walk(\+ A, By) :- !, walk(A, By).
walk(xtl_catch(A, _, B), By) :- !, walk(A, By), walk(B, By).
walk(G, By) :-
    functor(G, Name, Arity),
    (   clause_of(Name, Arity, _, _, _)
    ->  (   unknown_in(Name, Arity) -> walk_call(G, By) ; look_at(Name, Arity) )
    ;   Name == call
    ->  G =.. [_, Closure|Extra],
        closure(Closure, Extra, By)
    ;   meta(Name/Arity, Specs)
    ->  G =.. [_|Args],
        maplist(meta_walk(By), Specs, Args)
    ;   pure(Name/Arity)
    ->  true
    ;   G = _:_
    ->  refuse(By, "a goal of another module is refused: `~q`", [G])
    ;   ( predicate_property(system:G, defined) ; predicate_property(xtl:G, autoload(_)) )
    ->  refuse(By, "~w/~w is refused: it is not among the predicates that only compute", [Name, Arity])
    ;   refuse(By, "~w/~w is not defined", [Name, Arity])
    ).

meta_walk(By, Spec, Arg) :-
    (   Spec == 0 -> walk(Arg, By)
    ;   Spec == ^ -> strip(Arg, G), walk(G, By)
    ;   integer(Spec) -> length(Extra, Spec), closure(Arg, Extra, By)
    ;   Spec == (//) -> closure(Arg, [_, _], By)
    ;   true
    ).

strip(G, G) :- var(G), !.
strip(_^G, H) :- !, strip(G, H).
strip(G, G).

closure(C, _, By) :- var(C), !, unknown(C, By).
closure(C, _, By) :- \+ callable(C), !, refuse(By, "`~q` is no goal", [C]).
closure(C, Extra, By) :-
    (   C = (_ >> _) ; C = _:_ ; C = (_, _) , Extra \== [] ; C = (_ ; _), Extra \== [] ), !,
    refuse(By, "`~q` is refused as a closure: give it a name", [C]).
closure(C, Extra, By) :-
    C =.. L0,
    append(L0, Extra, L),
    G =.. L,
    walk(G, By).

unknown(G, by(Name, Arity, 0, Place)) :- !, throw(needs_arguments(Name, Arity, G, Place)).
unknown(G, by(_, _, _, Place)) :- throw(unknown_with_arguments(G, Place)).

% With the arguments of a call; if that is not enough, whoever calls it needs arguments of his own.
walk_call(G, by(Name, Arity, Depth, Place)) :-
    (   seen_goal(Seen), Seen =@= G
    ->  true
    ;   Depth > 60
    ->  refuse(by(Name, Arity, Depth, Place), "`~q` nests closures too deeply", [G])
    ;   copy_term(G, Copy),
        functor(G, N, A),
        Depth1 is Depth + 1,
        assertz(seen_goal(Copy)),
        catch(
            forall(( copy_term(G, Call), clause_of(N, A, Call, Body, At) ), walk(Body, by(N, A, Depth1, At))),
            unknown_with_arguments(Goal, Where),
            true),
        (   nonvar(Where)
        ->  (   Depth == 0
            ->  throw(needs_arguments(Name, Arity, Goal, Where))
            ;   throw(unknown_with_arguments(Goal, Where))
            )
        ;   true
        )
    ).

refuse(by(_, _, _, Place), Form, Args) :-
    format(string(Why), Form, Args),
    (   complaint(Place, Why) -> true ; complain(Place, Why) ).

meta(once/1, [0]).
meta(ignore/1, [0]).
meta((not)/1, [0]).
meta(forall/2, [0, 0]).
meta(findall/3, [?, 0, ?]).
meta(findall/4, [?, 0, ?, ?]).
meta(bagof/3, [?, ^, ?]).
meta(setof/3, [?, ^, ?]).
meta(aggregate_all/3, [?, 0, ?]).
meta(aggregate_all/4, [?, ?, 0, ?]).
meta(maplist/2, [1, ?]).
meta(maplist/3, [2, ?, ?]).
meta(maplist/4, [3, ?, ?, ?]).
meta(maplist/5, [4, ?, ?, ?, ?]).
meta(foldl/4, [3, ?, ?, ?]).
meta(foldl/5, [4, ?, ?, ?, ?]).
meta(foldl/6, [5, ?, ?, ?, ?, ?]).
meta(include/3, [1, ?, ?]).
meta(exclude/3, [1, ?, ?]).
meta(partition/4, [1, ?, ?, ?]).
meta(partition/6, [2, ?, ?, ?, ?, ?]).
meta(predsort/3, [3, ?, ?]).
meta(map_assoc/2, [1, ?]).
meta(map_assoc/3, [2, ?, ?]).
meta(phrase/2, [//, ?]).
meta(phrase/3, [//, ?, ?]).

pure(PI) :- pure_list(L), memberchk(PI, L).

pure_list([
    fail/0, false/0, otherwise/0, repeat/0, throw/1,
    (=)/2, (\=)/2, (==)/2, (\==)/2, (@<)/2, (@>)/2, (@=<)/2, (@>=)/2, compare/3, (=@=)/2, (\=@=)/2,
    unify_with_occurs_check/2, subsumes_term/2, (?=)/2,
    (is)/2, (=:=)/2, (=\=)/2, (<)/2, (>)/2, (=<)/2, (>=)/2, succ/2, plus/3, between/3,
    var/1, nonvar/1, atom/1, number/1, integer/1, float/1, rational/1, atomic/1, compound/1, callable/1, is_list/1,
    string/1, ground/1, acyclic_term/1, is_assoc/1, is_ordset/1, is_set/1, must_be/2, is_of_type/2,
    functor/3, arg/3, (=..)/2, copy_term/2, term_variables/2,
    compound_name_arity/3, compound_name_arguments/3,
    atom_codes/2, atom_chars/2, atom_length/2, atom_concat/3, sub_atom/5, atom_number/2, number_codes/2, number_chars/2,
    char_code/2, upcase_atom/2, downcase_atom/2, atomic_list_concat/2, atomic_list_concat/3, atom_string/2,
    number_string/2, string_concat/3, string_length/2, string_chars/2, string_codes/2, string_code/3, sub_string/5,
    split_string/4, string_lower/2, string_upper/2, char_type/2, code_type/2, term_to_atom/2, text_concat/3,
    length/2, msort/2, sort/2, sort/4, keysort/2, predsort/3, list_to_set/2,
    append/2, append/3, prefix/2, select/3, selectchk/3, select/4, subtract/3, permutation/2, member/2, memberchk/2,
    delete/3, nth0/3, nth1/3, nth0/4, nth1/4, last/2, proper_length/2, reverse/2, same_length/2,
    flatten/2, max_list/2, min_list/2, max_member/2, min_member/2, sum_list/2, sumlist/2, numlist/3, intersection/3,
    union/3, subset/2, subseq/3, pairs_keys_values/3, pairs_keys/2, pairs_values/2, transpose_pairs/2,
    list_to_ord_set/2, ord_add_element/3, ord_del_element/3, ord_insert/3, ord_memberchk/2, ord_member/2, ord_subset/2,
    ord_subtract/3, ord_union/2, ord_union/3, ord_union/4, ord_intersection/2, ord_intersection/3, ord_disjoint/2,
    ord_intersect/2, ord_symdiff/3, ord_seteq/2, ord_empty/1, ord_selectchk/3,
    empty_assoc/1, put_assoc/4, get_assoc/3, get_assoc/5, list_to_assoc/2, ord_list_to_assoc/2, assoc_to_list/2,
    assoc_to_keys/2, assoc_to_values/2, del_assoc/4, max_assoc/3, min_assoc/3,
    vertices_edges_to_ugraph/3, vertices/2, edges/2, add_edges/3, del_edges/3, add_vertices/3, del_vertices/3,
    neighbours/3, neighbors/3, reachable/3, transitive_closure/2, top_sort/2
]).
