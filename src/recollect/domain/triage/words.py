# hot
"""The words for scoring a session's end, measured by bench/triage."""

from __future__ import annotations

from recollect.domain.triage.phrases import Rule

# Word classes by their name in phrases. `fail~` stands for fail, fails, failed and failing.
CLASSES = {
    "FAIL": "fault violation violations throws threw thrown bombs glitch~ disconnect~ lag~ lagging spike~ overheat~ "
    "drift~ alert alarm paged pager postmortem downtime fail~ failure failures error errors exception exceptions "
    "traceback crash~ break~ broke broken hang~ hung stuck freeze~ froze frozen segfault~ panic~ panicked panicking "
    "oom timeout timeouts leak~ deadlock~ deadlocks flaky bounce~ reject~ refuse~ denied corrupt~ nan desync~ crackle~ "
    "die~ dying reboot~ stall~ flicker~ stutter~ garbled blank duplicated doubled vanish~ unreachable unresponsive "
    "unhealthy outage incident bug regression mismatch expired evict~ starve~ overflow~ killed complain~ race 401s "
    "403s 404s 429s 500s 502s 503s 504s",
    "CODE": "400 401 403 404 405 409 413 422 429 500 502 503 504",
    "WORK": "work start boot build compile load show connect open run render resolve finish respond install save "
    "deploy login log pass arrive see find reach sync play",
    "NOT": "doesnt didnt wont wouldnt dont couldnt cant not never isnt wasnt arent",
    "REPAIRED": "raised lowered increased reduced swapped reindexed rebuilt pinned upgraded downgraded filtered "
    "excluded rotated renewed reinstalled restarted cleared flushed purged pruned patched bumped switched restored "
    "recreated",
    "WELL": "works worked solved green healthy stable synced arrives confirmed gone disappeared recovered happy",
    "RESULT": "works work stops stopped released restored recovered passes arrives arrived ended holds healthy flat "
    "valid green gone disappears disappeared succeeds starts boots finishes survives",
    "CHANGE": "use do keep drop go stick move switch make skip avoid take stay leave put have build run write scrap "
    "ship start store split support host buy roll return get pay",
    "REASON": "fees licence license familiar boring proven maintained unmaintained supported complexity complex "
    "complicated performance latency dependency dependencies deps lock scale scales maintenance maintain learning "
    "deadline budget money expensive free cheap headache pain hassle painful mess risk risky trust hate love tired "
    "simplicity consistency consistent readable native builtin nobody everyone anyway anyways overkill enough worth "
    "justify",
    "SETTLE": "use keep drop go stick skip avoid take stay scrap ditch ship move switch",
    "BETTER": "cheaper slower faster simpler smaller easier safer cleaner better heavier lighter less fewer worse more "
    "quicker harder stricter newer older shorter longer",
    "UNIT": "second seconds minute minutes hour hours day days week weeks month months year request requests session "
    "user account project key connection ip tenant kb mb gb bytes characters chars rows items calls euro euros dollars "
    "percent",
    "PLACE": "repo project codebase team company module package service services app component folder directory house",
    "ALLOWED": "allowed available supported possible permitted guaranteed exposed offered accessible enabled "
    "documented certified approved licensed",
    "BANNED": "prohibited forbidden banned disallowed unsupported unavailable impossible prohibits forbids disallows "
    "mandatory immutable sandboxed",
    "LIMITED": "throttled capped restricted limited locked caps throttles restricts",
    "TAKES": "allows allow accepts accept supports support lets let gives offers permits exposes understands handles "
    "works",
    "CUTS": "kills rejects ignores blocks strips truncates evicts suspends disconnects refuses throttles expires "
    "terminates",
    "AUTHORITY": "documentation contract contracts contractually legal law lawyer lawyers gdpr compliance audit "
    "auditor auditors policy vendor vendors provider platform upstream maintainers regulator certification license "
    "licence tier sla agreement union statement hardware firmware chip soc device devices carrier printer sensor modem "
    "mcu gpu cpu ram kernel runtime unity unreal sony nintendo playstation xbox twilio sendgrid shopify paypal "
    "mastercard pci hipaa sox iso fda dpo procurement infosec s3 dynamodb bigquery snowflake firebase vercel netlify "
    "heroku docker npm openai webview bluetooth ble usb smtp sftp sepa arm stm32 esp32 jetson cuda insurance insurer "
    "ministry government tax council supplier hoster hosting sdk api apis gateway proxy firewall network cluster "
    "browser browsers safari chrome ios android ipados windows macos lambda aws azure gcp cloudflare github gitlab "
    "apple google microsoft stripe slack figma postgres mysql sqlite redis kafka kubernetes oracle sap salesforce bank "
    "partner customer customers hospital boss security admins privacy regulation eu appliance scanner factory museum "
    "tablets budget requirement production prod theirs their",
    "ODD": "nothing twice weird strange random randomly sometimes intermittently slow slower sluggish spike spikes "
    "growing exploding climbing missing gone vanished red down blurry wrong backwards inverted quits exits drops "
    "dropped loops looping spinning garbage unreadable skewed swapped delayed outdated huge zero zeros null undefined "
    "taken locked blocked ignored unauthorized unauthenticated forbidden invalid unsupported unknown unexpected lock "
    "conflict conflicts collide dead noisy full",
    "TOPIC": "commit commits message messages pr prs comment comments docstring docstrings name names naming test "
    "tests branch branches import imports emoji emojis log logs doc docs changelog formatting indentation tabs spaces "
    "quotes types hints variable variables function functions abbreviations acronyms file files title titles headings "
    "label labels ticket tickets summary summaries answer answers explanation explanations reply replies bullet "
    "bullets dates timestamps units money amounts strings ids keys columns tables endpoints flags config configs "
    "errors exceptions mocks fixtures snapshots migrations queries sql scripts dependencies packages libraries lib "
    "readme diagrams screenshots language spelling english word term terms wording links review reviews diff diffs",
    "ACK": "ok okay right got too understood noted good true then so hm hmm exactly sure fine clear well",
    "SOMEDAY": "later eventually someday sometime afterwards",
    "EVENT": "release launch demo audit migration rollout pilot mvp deadline sprint quarter month year week beta v2 v3 "
    "freeze holidays cutover upgrade next",
    "UGLY": "hack hacky hacks kludge crude ugly wart stopgap bandaid hardcode hardcoded hardcoding monkeypatch "
    "monkeypatched brittle fragile dirty duplicated duplication shortcut sidestep sidestepped placeholder stubbed stub "
    "copypasted makeshift duct hackish janky smelly gross eww nasty dodgy fudge fudged bodge botch botched glossed "
    "interim provisional legacy",
    "DONE": "renamed moved adjusted rewrote rewritten changed replaced reverted separated updated converted reworded "
    "dropped removed added split wrapped switched ran swapped understood noted sure ok okay right will got clear sorry "
    "apologies of translated reformatted corrected fixed done squashed set",
    "ALL": "all every each any everything anything everyone always never ever whenever everywhere nothing nobody",
    "NORM": "lower upper lowercase uppercase snake camel kebab plural singular prefixed named imperative tense "
    "alphabetical british american english german iso utc metric",
    "DO": "use add write create put commit push touch edit make name call log leave rename import mock wrap run merge "
    "squash test catch return explain comment apologise apologize change delete deploy install generate include send "
    "format ask tell mention start throw amend rebase paste reformat summarise summarize repeat refactor bump guess "
    "disable skip ignore keep show split upgrade do",
}

# Words of a comparison in a message before a choice; and filler words in a short answer.
COMPARING = frozenset(
    "or vs versus against either both whereas compared options option alternatives variants while but than".split()
)
FILLERS = frozenset(
    "ok okay lol yes yeah yep yup fine right so then hmm hm well sure alright haha cool great just lets do go with the "
    "a an for use take no not please pls i we it that this one and to is of ah oh good nice thanks thx done now "
    "continue keep change add try look lunch test tests".split()
)

# In a phrase, `_` is any one word, `..` up to three, `#` a number, `^` the sentence's start and `$` its end, a name in
# capitals any word of that class, ED and ING any word with that ending; `%` begins a mark of a choice (score.py).
# Apostrophes are left out and hyphens are spaces. The weights are those of a primary and of a boosted sentence, and the
# divisor of their sum.
RULES = {
    "decision": Rule(
        "decided, chose, selected, went with, picked, have chosen, has chosen, ive chosen, weve chosen, was chosen, "
        "were chosen, going with, go with, goes with, settle on, settled on, settling on, settled for, opted for, "
        "opted to, opting for, opt for, stick with, sticking with, stay with, staying with, sticking to, ended up, "
        "final call, the decision, our decision, the outcome, the verdict, made the call, lets CHANGE, lets not, "
        "we take, well CHANGE, we will CHANGE, were not going to, we are not going to, we arent going to, "
        "were dropping, were keeping, were moving, were switching, were going, were using, we are dropping, "
        "we are keeping, we are moving, we are switching, we are going, we are using, were not doing, were not using, "
        "not going to use, we wont, we will not, it is $, won, wins, won out, rules out, ruled out, no argument for, "
        "no case for, not worth it, was overkill, is overkill, i deliberately, i intentionally, on purpose, by design, "
        "i kept, i used, ive kept, i avoided, in favour of, in favor of, we agreed, voted for, signed off on, "
        "the way to go, the way forward, adopted, the trade off, the tradeoff, i considered, says we should, "
        "were taking, we are taking, %reasoned, ^ _ then $, ^ _ _ then $, ^ _ _ _ then $, i took, id take, i went, "
        "ive built, we stay, stay on, stays on, landed on, land on, going for, gone with, went for, standardise on, "
        "standardize on, standardising on, standardizing on, my vote, im sold, the conclusion, committed to, "
        "final answer, right call, right choice, best fit, most sense, in the end, consensus, signed off, wants us to, "
        "not having, so we use, so we keep, so we do, instead we, settles it, settles that, decides it, convinced, "
        "no brainer, obvious choice, say no to, wont be ING, i settled, well be ING, well .. not, we will .. not, "
        "were doing, beats",
        "because, due to, reason, rationale, over, instead of, rather than, since, so that, so people, as it, as its, "
        "anyway, anyways, overkill, BETTER, enough, dont want, doesnt want, nobody, no one, too _, costs, costs us, "
        "cost, would mean, would need, would have, would take, would cost, means, makes sense, good call, good point, "
        "sound choice, worth, trade off, tradeoff, already, mainly, mostly, given, considered, compared, versus, vs, "
        "pros and cons, not having, avoids, maintain, known, knows, know it, not _ $, dont need, doesnt need, "
        "at the price, at the cost, in exchange, so we, simple, slow, REASON, we already, we have, we run, dont have, "
        "doesnt have, moving parts, built in, comes with, ships with, out of the box, works with, one less, %reasoned, "
        "agreed, bitten, burnt, burned, revisit, is fine, has no, sound, good choice",
        weights=(0.3, 0.5, 1.9),
        boosters_by_human="only, so _ can",
        answers_by_human="makes sense, good choice, exactly, good call, agreed, id have done, the plan, correct, "
        "sounds good",
        answers_by_assistant="removed, deleted, deleting, removing, dropping, ill remove, ill drop, ill delete, "
        "take out, ill convert, ill switch, ^ _ then, ^ _ _ then, it is $",
        weak="and not, instead of, rather than, no need for, is enough, is fine, makes more sense, better to, hence",
        weak_by_human="%chosen, ^ SETTLE, ^ ok SETTLE, ^ yes SETTLE, ^ just SETTLE, ditch, bin, skip, sold, deal, "
        "id say, dont need, do that, stays, gets _ $, get _ $, goes, we ED, moving to, fair enough, is the one, "
        "all the way, id go, ill go, sounds right, decision, no _ for us, given, switching to, switch to, move to, "
        "agreed, ^ so, not _ $, we want, %answered, forget, pass on, hold off, rip out, id rather, i prefer, "
        "after all, discussed, talked to, no to, we use, we do",
        weak_by_assistant="i ED, ive ED, i left, ive left, i put, i built, i made, i wrote, now uses, now use, "
        "now live, now lives, now stored, moved to, switched to, switched from, migrated to, the plan is, "
        "the approach, lives in",
        by_human="then $, ^ then, were dropping, no _ in this, ^ scrap, ^ kill, fine kill, ^ drop the, ^ keep, "
        "^ forget, dont bother, ^ so _ and, ^ right so, do it with, ^ go for, go for it, ^ no _ for this, and not in, "
        "and not a",
        other_meaning="the selected, is selected, are selected, was selected, gets selected, selected rows, "
        "selected row, selected text, selected item, selected items, selected files, selected user, selected by, "
        "it selected, the chosen, it chose, optimizer chose, planner chose, compiler chose, compiler went with, "
        "scheduler chose, browser chose, it picked, git picked, test picked, runner picked, user picked, picked up, "
        "i picked up, picked from, picked by, it went with, over there, over again, start over, started over, "
        "hand over, took over, take over, takes over, carry over, carried over, hover over, go over, going over, "
        "went over, goes over, iterate over, loop over, iterating over, looping over, over the last, over the network, "
        "over the wire, over the websocket, over http, over https, over ssh, over time, over and over, all over, "
        "left over, over lunch, over #, for some reason, lets do this, lets do it, now then, ok then, and then, "
        "until then, by then, back then, well then, since then, just then, only then, what it is, how it is, as it is, "
        "where it is, who it is, whatever it is, here it is, there it is, is it is, so it is, more or less, less than, "
        "more than, no more, one more, keep going, keep an eye, keep looking, ^ keep it, go with the next, goes to, "
        "goes into, i added, i updated, i changed, i opened, i checked, i looked, i renamed, i fixed, i simplified, "
        "ive added, ive changed, ive updated, ive renamed, ive fixed, ive opened, then remove, gets the, the BETTER, "
        "the slow, go ahead, go on, always wins, always won, ^ it .. then, ^ it .. _ then",
        unless="if we, if you, if i, havent, hasnt, not decided, not yet, cant decide, cannot decide, yet to decide, "
        "still deciding, not sure, maybe, perhaps, might, could, should we, let me, depends, who decided, do you want, "
        "waiting for, would you, id probably, thinking out loud, hypothetically, in theory, no decision, for example, "
        "many teams, some teams, before choosing, well see, ill ask, next one, mistyped",
        unless_assistant="first, next, ill read, ill start, start with, for a moment, shall i",
        asked=(),
    ),
    "runbook": Rule(
        "error, exception, traceback, stack trace, failed, failure, crash, timed out, times out, out of memory, "
        "no space left, unable to, went wrong, root cause, logged out, not found, a CODE, an CODE, with CODE, "
        "returns CODE, got CODE, gets CODE, CODE on, CODE from, http CODE, exit code, is down, was down, went down, "
        "what happened, the cause, culprit, was caused by",
        "fixed by, resolved, root cause, solution, workaround, the fix, fixed it, fixes it, fixed that, that fixed, "
        "fixed the, fixes the, fix was, fix is, solved, solves, resolves, cured, cures, culprit, turned out, "
        "turns out, the cause, cause was, caused by, came from, comes from, was because, is because, happens because, "
        "happened because, happens when, problem was, issue was, reason was, reason is, the difference is, explains, "
        "gets rid, got rid, did the trick, does the trick, that did it, helped, helps, brought it back, happens again, "
        "next time, to recover, recovered, restoring, went through, goes through, go through, gets through, freed, "
        "traced, tracked down, bisected, found it, figured out, mystery, to blame, down to, because of, rolled back, "
        "since then, back to normal, if it happens, works now, work now, works again, working again, up again, "
        "is back, are back, comes up, came up, no longer, puts _ in, survive, REPAIRED, what happened, needed a, "
        "needs a, missing",
        weights=(0.2, 0.6, 1.8),
        weak="NOT WORK, could not, returns nothing, FAIL, time out",
        weak_by_assistant="was ODD, were ODD",
        weak_by_human="ODD, keeps ING, ^ why was, ^ why were, since the, only on, only in, in production, i get, "
        "im getting, we get, we see, getting, says",
        by_human="FAIL, keep getting, keeps getting, nobody could, nobody can, is empty, was empty, are empty, "
        "what on earth",
        boosters_by_human="WELL, fine now, all good, is fine, is back, crystal clear, phew, brilliant, that was it, "
        "well done, indeed",
        boosters_by_assistant="and .. RESULT, it RESULT, RESULT it, RESULT again, RESULT now, made .. RESULT, "
        "makes .. RESULT, brings .. back, puts .. right, gets .. ING, no changes, because .. was, since .. was, "
        "because the, hence, i traced",
        answers_by_assistant="ED .. now, was _, were _, had _, wasnt, werent, hadnt, whose, got ED, agrees, agree, "
        "match, no #, fine, so, because, since, while, as the, ^ ING _ _ _ _, gone, prevents, is explained, was that",
        other_meaning="error handling, error handler, error message, error messages, error rate, error rates, "
        "error count, error page, error codes, error boundary, error type, error types, error log, error path, "
        "error paths, error toast, error colour, error state, no error, no errors, 0 errors, zero errors, any errors, "
        "any error, without errors, 0 failures, no failures, zero failures, any failures, 0 failed, none failed, "
        "failure path, on failure, failure mode, failure modes, custom exception, an exception, raise an error, "
        "raises an error, crash dialog, crash reporting, lint errors, type errors, failed jobs, failed uploads, "
        "try again, dont see, not see, # errors, # failures, # failed, compile error, syntax error, error class, "
        "error classes",
        unless="i expect, as expected, expected failure, expected to fail, dont know, not sure, no idea, "
        "cant reproduce, could not reproduce, couldnt reproduce, still failing, still fails, if it fails, "
        "if that fails, when it fails, would fail, should fail, must fail, to fail, might fail, havent found, "
        "tests for, harmless, not yet, i couldnt find, i forgot, i mistyped, typo, possible, thats normal, not clear, "
        "keep looking, in isolation, what does",
        unless_human="please, can it, should",
        unless_assistant="let me, lets see, ill check, looking at, checking, im going to, going to check",
        asked=("why",),
        reach=2,
        answer_words=11,
    ),
    "constraint": Rule(
        "limitation, api limit, must _, has to be, have to be, max, has no, have no, there is no, theres no, requires, "
        "a single, outside, # a UNIT, allowed to, is allowed, maximum, up to #, # .. per UNIT, limits, # at most, "
        "cannot, restricted, not supported, quota, rate limit, limitations, quotas, rate limits, rate limited, cant, "
        "can not, NOT ALLOWED, NOT be ALLOWED, BANNED, must not, mustnt, may not, may only, can only, only be, "
        "only TAKES, only works, TAKES only, TAKES at most, TAKES one, TAKES #, may never, doesnt TAKES, dont TAKES, "
        "does not TAKES, wont TAKES, doesnt implement, at most, no more than, the limit, hard limit, limit of, "
        "limit is, # per UNIT, no way to, without .. permission, wont change, wont be, stuck on, stuck with, "
        "read only, end of life, no internet, no access, not even",
        "BANNED, NOT ALLOWED, must not, mustnt, may not, may never, no more than, hard limit, wont change, "
        "according to, by law, no way around, even when, our plan, free plan, plan allows, the docs, docs say, "
        "docs of, app review, app store, the store, privacy statement, the board, the client, the exchange, "
        "their spec, discovered, found that, turns out, permanently, enduring, platform, turned out, found out, "
        "apparently, AUTHORITY, says, said, good to know, be aware, heads up, keep in mind, note that, by design, "
        "hard rule, theirs, regardless, whatever we, requirement",
        weights=(0.3, 0.5, 1.9),
        one_is_enough=0.5,
        weak="LIMITED, only be, only on, CUTS, doesnt, wont, cant, isnt, arent, must, stuck, within, longer, bigger, "
        "larger, more than, older, until",
        support="^ then, ^ so, so no, then $, it is $, ^ ok so, ^ right so, ^ hm so, so we, ill, well, good to know, "
        "ugh, yikes, damn, shame, ouch, annoying, exactly, ^ good, therefore, which means, that means, that explains, "
        "^ ACK, have to, has to, anything, only, needs, need, must, no _ no, so",
        other_meaning="rate limiter, cannot find, cannot read, cannot see, cannot resolve, cant find, cant tell, "
        "cant see, cant reproduce, cant wait, page limit, limit parameter, has no issues, has no effect, a minute ago, "
        "in a minute, up to date, up to you, per page, if there is no, no need, max height, max width, math.max",
        unless="i cant, i cannot, i could not, i couldnt, i can, i can only, shall i, set the, increase the, "
        "do you want, would you, let me, not yet, yet, for example, can you, is wrong, is fixed, works now, "
        "at the moment, right now, you must be, i dont know, could write, depends, i need to, ill test, need to",
        unless_assistant="you cant, i have to, ill have to, i had to, i must, you have to, you must",
        asked=(),
    ),
    "tech_debt": Rule(
        "todo, deferred, tech debt, workaround, hack, will address later, technical debt, UGLY",
        "because, for now, temporary, acknowledged, deferring, cost, risk, until, once, since, otherwise, known, "
        "noted, acceptable, ticket, ok for, good enough, agreed, as soon as, prototype, instead $, only didnt",
        weights=(0.3, 0.5, 1.9),
        cues="can be deleted, can go $, should go, go away, as soon as, another day, not this EVENT, really wants, "
        "it wants a, would be cleaner, cleanest, pay for it, no validation, remind me, when .. ready, when .. is out, "
        "when .. comes, when .. removed, makes it worse, in clear text, in plain text, somebody touches, "
        "someone touches, known limitation, for now, SOMEDAY, at some point, one day, some day, the time being, "
        "for the moment, after the EVENT, after EVENT, before the EVENT, before general, before production, "
        "next EVENT, this month, not in this, not today, not now, not doing it, until we, until somebody, "
        "until someone, once the, once they, once we, when the .. we, revisit, clean them up, clean it up, ought to, "
        "really should, should really, should replace, should be replaced, should be removed, be dropped, be removed, "
        "real fix, real cure, the real, good enough, itll do, thatll do, fine for the, ok for the, okay for the, "
        "acceptable, known gap, known issue, on the list, backlog, on hold, havent removed, shipped without, "
        "left as is, untouched, left those, left that, live with, still there, still uses, still builds, still depend, "
        "still depends, still come, still in, cut .. corner, not proud, follow up, followup, separate pr, "
        "out of scope, out of time, copy pasted, by hand, wont scale, doesnt scale, will break, someone has to, "
        "somebody must, somebody should, someone should, needs doing, have to rewrite, hard coded, quick fix, "
        "quick and dirty, band aid, low priority, temporarily, dead code, known risk, not handled, doesnt handle, "
        "not implemented, not covered, no tests, not tested, untested, i skipped, parked, postponed, put off, "
        "rewrite it, refactor it, we wait for, not ideal, not great, not pretty",
        cues_by_human="will do, fine for, ok for, leave it",
        weak="i left, weve left, left it, left the, left those, left as, left in, left out, leave, leaving, havent, "
        "have not, hasnt, leave it, as is, i kept, cleanup, clean up, proper, properly, redo, sort it, moving on, "
        "ship it, still, didnt, did not, disabled, commented out, manually, manual, assumes, assume, ignores, "
        "swallows, swallow, mocked, faked, skip, skipped, only handles, only covers, global, magic, shells out, "
        "no _ yet, forked, pinned, suppressed",
        answers_by_human="later, fine for, is fine, thats fine, ok for, leave it, good enough, after, when, next, "
        "once, live with, eventually, known, before, someday, will do, backlog, ticket, until, not now, acceptable, "
        "one day, for now, ship",
        other_meaning="todo list, todo lists, todo app, todo items, my todo, first todo, next todo, todos table, "
        "todos can, last todo, for todo, hack day, a hackathon, the deferred, old workaround, workaround for, "
        "temporary file, temporary files, temporary folder, temporary directory, temporary credentials, "
        "cost of running, follow up question, follow up questions, see you later, i left off, you left off, "
        "placeholder text, placeholder image, we left, are left, is left, # left, still used, as they are, add a todo, "
        "make a todo, create a todo, a todo list, a todo app, a todo model, moving on to",
        unless="not decided, havent decided, removed the, i removed, i deleted, ive deleted, deleted it, isnt needed, "
        "not acceptable, "
        "not needed, no longer needed, is handled, what is, is there a, is that a, let me, marking the, i replaced, "
        "go ahead, do you want, should we, grep for, come back to, in a minute, this time, shall i, i fixed, "
        "ive fixed, i refactored, i simplified, if you like, either works, next one, next file, first",
        unless_assistant="now implement, next ill, now i, ill now",
        asked=(),
    ),
    "preference": Rule(
        "always use, prefer, convention, from now on, standard, never use, established, conventions, we always, "
        "we never, house style, style guide, going forward, from here on, as a rule",
        "agreed, going forward, consistently, rule, practice, workflow, from now on, everywhere, whenever, always, "
        "never, no exceptions, keep in mind, convention, in this PLACE",
        weights=(0.35, 0.5, 2.05),
        by_human="please dont, pls dont, please never, please always, dont ever, never DO, always DO, dont .. ever, "
        "dont .. again, stop ING, can u not, can you not, we say, we call them, we call it, we never, we always, "
        "our rule, the rule is, thats our, thats how we, how we do, i prefer, i hate, i dont like, allergic, "
        "not a fan, in future, in the future, next time, all future, we only do, we use .. here, we do .. here, "
        "we dont .. here, we only .. here, when you DO, whenever you, when you .. also, every time, "
        "everything through, everything goes, without asking, ask me before, ask before, ask first, unless i ask, "
        "you keep ING, i told you, as i said, every _ must, every _ should, every TOPIC needs, all _ must, "
        "all _ should, each TOPIC needs, each one needs, on ALL new, ALL new, wherever possible, get named, "
        "use _ for ALL, i want ALL, i want .. on ALL, i want .. even, i want _ to be, our standard, not just when, "
        "make it a habit, keep forgetting, same for whatever, for humans, across services, house rule, by default i, "
        "no exceptions, keep that in mind, keep your, one _ per _, be concise, be brief, shorter answers, "
        "less verbose, just the diff, refer to, call it .. not, should live, same style, keep .. small, keep .. short, "
        "no _ like, lets agree, guideline says, guidelines say, as everywhere, too many TOPIC, my preference, "
        "drives me, annoys me, around here, we dont do, we dont use, we only use, we write, we name, we follow, "
        "here not, please keep all, going forward",
        unless_weak_human="^ add, ^ show, ^ can, ^ could, ^ rename, ^ move, ^ make the, ^ make it, ^ put the, "
        "^ put it, ^ write, ^ draw, ^ the, ^ a, ^ remove, ^ change, ^ drop, ^ delete, ^ translate, ^ sort, ^ create, "
        "^ extract, ^ implement, ^ review, ^ check, ^ run, ^ open, ^ please add, ^ please review, ^ please fix, "
        "^ please check, ^ please run, this, that, there, yet, now, wrong, broken, fails, failed, ^ it, ^ i need, "
        "^ i want to, ^ what, ^ which, ^ how, ^ where, ^ why, ^ is, ^ are, ^ did, ^ does, ^ do, ^ let me, ^ also, "
        "^ and, ^ but, ^ hm, ^ hmm, ^ ok, ^ yes, ^ no, ^ so, ^ nice, ^ we have, ^ we need, ^ same, ^ lets, i see, "
        "i cant, my",
        weak_by_human="stick to, follow the, match the, belongs in, belong in, goes under, live in, lives in, TOPIC, "
        "no TOPIC, your TOPIC, all TOPIC, in TOPIC, our TOPIC, every TOPIC, each TOPIC, for TOPIC, new TOPIC, "
        "TOPIC go, TOPIC get, TOPIC in, dont DO, do not DO, avoid, we use, we keep, we put, NORM, i like, id rather, "
        "id like, we only, we do, we dont, in a separate, no _ in, not in a, i want, dont touch",
        boosters_by_human="no _, not _, we, our, should be, must be, need to be, have to be, belong, belongs, never, "
        "always, every, under #, unless, rest of, around here, consistent, style, by default, not just, no _ no, "
        "and not, not _ $, even, across, everyone, people, team, marketing, reviewers, otherwise, so they, that way, "
        "thats how, anything in, ever, everything, here, ALL new, wherever, because, so that, so we, since",
        answers_by_assistant="understood, noted, will keep, next ones, from here on, each time, every time, ill only, "
        "ill keep, ill avoid, ill stick, ill remember, ill follow, ill ask, ill use, ill write, point taken, "
        "accordingly, that way, existing ones",
        boosters_by_assistant="^ DONE, ^ ED, ill, i will, ive ED, and will, rewrote",
        by_assistant="conventions you, you asked me to always, your rule, as you prefer",
        other_meaning="standard library, standard input, standard output, standard error, standard way, "
        "standard layout, standard ports, standard port, standard deviation, c standard, established in, "
        "is established, was established, established library, established connection, by convention, i like it, "
        "i like that, preferred language, user preferences, never mind, never seen, always the same, always getting, "
        "id like to, no thats, next time slot, i prefer the, i like this",
        unless="which do you, would you prefer, do you prefer, some prefer, most projects, for a moment, this time, "
        "in this commit, for this one, right now, i wonder, how do, what is, whats, in this case, just this once, "
        "for now, no that, no just, no leave, not sure, not important, i like the, first",
        unless_assistant="forward in, the usual, from now on the, from now on it, i prefer, id prefer, i would prefer, "
        "prefers, in general, usually",
        asked=(),
    ),
}
