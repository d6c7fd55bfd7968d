"""The words by which a session's end is scored; bench/triage measures them."""

from __future__ import annotations

from recollect.domain.phrases import Rule

# In a phrase, `_` is any one word, `^` the sentence's start and `$` its end; apostrophes are left out and hyphens are
# spaces. The weights are those of a primary and of a boosted one, and what their sum is divided by.
RULES = {
    "decision": Rule(
        "decided, chose, selected, went with, picked, we decide, ive chosen, weve chosen, was chosen, going with, "
        "go with, goes with, settled on, settling on, opted for, opted to, opting for, opt for, sticking with, "
        "stick with, stay with, staying with, sticking to, ended up using, ended up with, ended up going, "
        "final call, final decision, made the call, the decision is, our decision, decision made, lets use, lets do, "
        "lets not, lets keep, lets drop, lets stick, lets stay, lets move, lets switch, lets leave, were dropping, "
        "we are dropping, were keeping, we are keeping, were moving, we are moving, were switching, "
        "we are switching, switched to, switched from, moved to, migrated to, were not going to, "
        "we are not going to, we wont, we will not, well use, we will use, well go, we will go, well keep, "
        "we will keep, well do, we agreed, agreed on, agreed to, signed off on, voted for, in favour of, "
        "in favor of, ruled out, rules out, rejected, discarded, thats decided, is decided, its decided, "
        "case closed, is overkill, not worth it, the trade off, the tradeoff, trade off i, it is $, then $, "
        "i replaced, ive replaced, i left the, i kept, ive kept, i deliberately, i intentionally, on purpose, "
        "by design, i avoided, i used, now live in, now lives in, now use, now uses, is now stored, the plan is to, "
        "the approach is, design decision, i took, we took, i followed, i adopted, adopted, wins, won out, stays, "
        "is gone from, forget about, lets make, make it the, keep both, i moved, ive moved, moved the, gets its own, "
        "we take, ill take, then _ $, i built it, chosen approach, is the way to go, the way forward, "
        "was the better, is the better, im keeping, ive decided, weve decided, weve settled, id take, ill keep the, "
        "gets their own",
        "because, due to, reason, rationale, over, instead of, rather than, since, so that, as it, as that, anyway, "
        "overkill, not worth, worth it, cheaper, slower, faster, simpler, smaller, easier, safer, cleaner, better, "
        "less, mainly, mostly, given that, given the, trade off, tradeoff, trade offs, tradeoffs, at the price of, "
        "at the cost of, in exchange, makes sense, agreed, good call, means, would mean, would have, which avoids, "
        "avoids, only need, dont need, doesnt need, we need, well need, doesnt matter, doesnt want, dont want, "
        "nobody wants, wants, too much, too many, too slow, too heavy, too complex, has no, burnt, burned, bitten, "
        "revisit, candidates, options, alternatives, alternative, two ways, three ways, compared, possibilities, "
        "designs, approaches, proposals, considered, either, already have, we have, which would, takes load, keeps, "
        "would take, to maintain, to test, simple, slow, needs, matches, so nobody, nobody, versus, vs, "
        "pros and cons, simplicity, consistency, performance, maintenance, downside, upside, instead, worse than, "
        "better than, than a, than the, after yesterdays, the discussion, discussed, contracts, support ticket",
        weights=(0.3, 0.5, 1.9),
        by_human="^ then, ^ agreed, ^ ok _ then, forget about, ^ use, ^ ok use, just use, go for, ^ keep, ^ drop, "
        "do it with, not by, take the, ok take, yes keep",
        other_meaning="the selected, is selected, are selected, was selected, gets selected, selected rows, "
        "selected row, selected text, selected item, selected items, selected files, selected user, selected by, "
        "it selected, the chosen, it chose, optimizer chose, planner chose, compiler chose, compiler went with, "
        "scheduler chose, browser chose, it picked, git picked, test picked, runner picked, user picked, picked up, "
        "picked from, picked by, it went with, over there, over again, start over, started over, hand over, "
        "took over, take over, takes over, carry over, carried over, hover over, go over, going over, went over, "
        "goes over, iterate over, loop over, iterating over, looping over, over the last, over the network, "
        "over the wire, over the websocket, over http, over https, over ssh, over time, over and over, all over, "
        "left over, for some reason, lets do this, lets do it, now then, ok then, and then, until then, by then, "
        "back then, well then, since then, just then, only then, what it is, how it is, as it is, where it is, "
        "who it is, whatever it is, here it is, there it is, is it is, so it is, use it $, use this $, at least, "
        "unless, more or less, moved to the next, less than, on purpose $, keep going, keep an eye, take the first, "
        "^ use port",
        unless="if we, if you, if i, havent decided, not decided, not yet decided, have not decided, cant decide, "
        "cannot decide, yet to decide, still deciding, hasnt decided, not sure, maybe, perhaps, might, could, "
        "should we, let me, depends, who decided, do you want, waiting for your, your decision, would you, "
        "id probably, would need, thinking out loud, hypothetically, in theory, no decision, as usual, for example, "
        "many teams, some teams, keep an eye, keep going",
        unless_assistant="first, now let, next, ill read, ill start, start with, for a moment",
        asked=False,
    ),
    "runbook": Rule(
        "error, exception, traceback, stack trace, failed, failure, crash, errors, exceptions, failures, fails, "
        "crashed, crashes, crashing, segfault, panicked, panics, hangs, hanging, hung, stuck, freezes, froze, "
        "deadlock, deadlocked, broke, broken, breaks, refuses, refused, rejected, denied, timeout, timeouts, "
        "timed out, times out, leak, leaking, leaks, flaky, stale, oom, oom killed, out of memory, no space left, "
        "disk full, doesnt start, does not start, didnt start, wont start, wouldnt start, wont boot, wouldnt boot, "
        "doesnt work, does not work, didnt work, stopped working, not working, wont work, is red, went red, "
        "blank page, white page, white screen, not found, doesnt exist, does not exist, did not exist, couldnt see, "
        "couldnt find, couldnt connect, cant connect, unable to, logged out, 401, 403, 404, 405, 409, 413, 422, 429, "
        "500, 502, 503, 504, exit code, mismatch, mismatched, the bug, a bug, the problem, the issue, was missing, "
        "were missing, is missing, lacks, still held, left behind, leftover, culprit, why it, root cause, "
        "race condition, clock skew, out of sync, was caused by, caused by, too slow, regression, corrupt, "
        "corrupted, unreachable, unresponsive, complains, complained, drops, no data, no output, blurry, violation, "
        "violations, couldnt, doesnt fit, the cause, what happened, what was going on, is slow, was slow, slowness, "
        "spike, unexpected, expired, wrong version, time out, not delivered, isnt delivered, cant resolve, "
        "couldnt resolve, cannot resolve, is down, was down, went down, exits",
        "fixed by, resolved, root cause, solution, workaround, the fix, fixed it, fixes it, fixed that, that fixed, "
        "this fixes, fixes the, fixed the, fixed now, fix was, solved, solves, solve it, resolves, cured, cures, "
        "culprit, works now, work now, works again, work again, working again, working now, works fine, "
        "uploads work, apply works, runs again, run again, starts again, starts now, is back, are back, comes up, "
        "came up, up again, goes through, go through, gets through, gets rid, got rid, that did it, did the trick, "
        "does the trick, helped, brought it back, brings it back, back to green, is green, are green, green again, "
        "stable, stays up, flat now, freed, released it, stops it, stopped it, ended the, it pass, made all, "
        "pass again, passes again, passes now, passes every, succeed, succeeds, accepted again, deploys again, "
        "renders, no longer, hasnt been, not since, turned out, turns out, confirmed, to recover, recovered, "
        "recovers, finished in, is explained, it starts, was that, reason was, reason for, came from, was caused by, "
        "caused by, after restarting, after a restart, after clearing, after removing, after enabling, after adding, "
        "after installing, restarting the, reinstalling, downgrading, deleting the, removing the, clearing the, "
        "pinning the, again $, fine again, disappear, disappeared, disappears, gone, goes away, went away, holds, "
        "prevents, takes care, took care, puts that right, that was it, works $, starts $, survive, found the cause, "
        "the cause, cause of, hence, what was going on, happens because, happened because, was because, is quiet, "
        "^ setting, ^ upgrading, ^ removing, ^ raising, ^ restarting, ^ installing, ^ exporting, ^ deleting, "
        "^ switching, adding it to, running again, up and running, filling up, since then, solved it, brought the, "
        "brought it, failed because, fails because, broke because, broken by, crashed because, i raised, i opened, "
        "i restarted, i killed, i cleared, i converted, i rebuilt, i upgraded, i downgraded, i reinstalled, "
        "i rotated, i increased, that helps, arrived",
        weights=(0.2, 0.6, 1.8),
        other_meaning="error handling, error handler, error message, error messages, error rate, error rates, "
        "error count, error page, error codes, error boundary, error type, error types, error log, error path, "
        "error paths, no error, no errors, 0 errors, zero errors, any errors, any error, without errors, 0 failures, "
        "no failures, zero failures, any failures, 0 failed, none failed, failure path, on failure, failure mode, "
        "failure modes, custom exception, an exception, raise an error, raises an error, an error message, "
        "standard error, crash reporting, type errors, lint errors, common errors, failing test first, is broken at, "
        "tie is broken, errors from, errors are reported, is explained below, is explained in, possible solutions, "
        "a good workaround, run again please, again please, try again, trying again, running it again, "
        "compiling again, running again with, searching again, retrying, the issue tracker, the problem statement, "
        "issue is that you, fix the failing, fix the issue, the bug report, a workaround for, failed uploads, "
        "failed jobs, exception cases, error is a, error toast, an error is, failures are logged, errors are, "
        "permission error when",
        unless="i expect, as expected, expected failure, expected to fail, dont know why, not sure why, "
        "dont know yet, cant reproduce, could not reproduce, couldnt reproduce, still failing, still fails, "
        "same exception, same error, if it fails, if that fails, when it fails, would fail, should fail, must fail, "
        "to fail, might fail, mistyped, wrong folder, harmless, feature request, cannot find module, "
        "not a git repository, goes away with, not relevant, stale background, error prone, possible solutions, "
        "i forgot, ill write the tests, tests for, forgot to, timed out once, compile error, type error, 2 errors",
        unless_assistant="let me run, let me see, lets see if, let me check, now let me",
        asked=False,
    ),
    "constraint": Rule(
        "limitation, api limit, cannot, restricted, not supported, quota, rate limit, limitations, api limits, "
        "quotas, rate limits, rate limited, cant, can not, not possible, isnt possible, impossible, not allowed, "
        "arent allowed, isnt allowed, allows only, allows one, only allows, only lets, forbidden, prohibited, "
        "must not, may not, may never, mustnt, not available, isnt available, arent available, unavailable, "
        "not permitted, doesnt support, does not support, dont support, isnt supported, arent supported, "
        "unsupported, no support, does not implement, doesnt implement, doesnt expose, does not expose, "
        "doesnt offer, does not offer, doesnt allow, does not allow, doesnt let, wont let, doesnt provide, "
        "does not provide, ignores, no way, only way, can only, could only, only be, may only, only works, "
        "works only, only in, at most, up to, no more than, limited to, is limited, are limited, limited by, "
        "limit of, limit is, limit for, the limit, hard limit, upper limit, limits, capped, caps, maximum, stops at, "
        "per second, per minute, per hour, per day, per month, has to, have to, had to, needs to stay, stay below, "
        "stay on, stay in, stay within, wont change, will not change, wont be, will not be, wont move, will remain, "
        "always be, policy, rules out, rule out, is out, are out, off the table, kills, truncates, suspends, "
        "disabled, breaks, no api, no webhook, no internet, no access, no polyfill, no setting, no option, no plans, "
        "dont plan, exposes only, gives us no, never be, unless, not with, says no, not for us, mandatory, "
        "read only, end of life, hardcoded in, fixed at, immutable, rejects, reject, arent issued, for good, "
        "no switch, accepts, one _ per, forbids, forbid, forbade, must go, wont work, will not work, they say, "
        "they said, cuts, belongs to, not documented, undocumented, even when, even if, stuck on, stuck with, "
        "at best, isnt something, ceiling, floor of, kept for, reserved for, outside the, then _ only, is the max, "
        "the most, no longer than, blocked, blocks, whitelisted, locked down, eol, must stay, must be, must never, "
        "has no api, has no bulk, has no way, theres no way, there is no way, no way to, theres no setting, "
        "theres no api, there is no api, calls per day, mails a day, requests a day, no matter what, not even, "
        "means no, cut without",
        "discovered, found that, turns out, permanently, enduring, platform, turned out, found out, apparently, "
        "confirmed, according to, docs, documentation, the source, checked the, whatever we, whatever you, "
        "therefore, that means, which means, means that, so we have to, so we need, so we must, rules out, "
        "off the table, vendor, provider, maintainers, upstream, their, legal, contractually, contract, compliance, "
        "gdpr, requirement, guideline, guidelines, the store, app store, policy, terms, plan, tier, license, "
        "firmware, hardware, customer, customers, admins, prod, production, hosts, by design, compiled in, "
        "hard rule, hard limit, keep in mind, remember that, note that, api, apis, sdk, endpoint, browsers, safari, "
        "chrome, ios, android, windows, lambda, postgres, sqlite, mysql, aws, azure, github, kubernetes, cloudflare, "
        "explains, annoying, no setting, no way around, the only, regardless, upstream, gateway, device, devices, "
        "contract, security, region, bank, partner, proxy, interface, support, for our, our namespace, "
        "tried several, good to know, just so you know, something to know, strict, google, apple, microsoft, stripe, "
        "slack",
        weights=(0.3, 0.5, 1.9),
        other_meaning="rate limiter, cannot find, cannot read, cannot be assigned, cannot see, cannot push, "
        "cannot resolve, cant find, cant tell, cant see, cant return, cant reproduce, cant wait, cant merge, "
        "restricted the search, restricted users, page limit, limit parameter, has no issues, has no effect, "
        "isnt there yet, a day or, a minute ago, in a minute, only the first, is out there, up to date, up to you, "
        "if there is no, no need, has to do with, max height, max width, up to now, unless you",
        unless="i cant, i cannot, i could not, i couldnt, i can not, we should add, shall i, make it so, set the, "
        "add a, increase the, changed to, do you want, would you, let me, not yet, yet, how do, for example, "
        "an hour or, removed, can you, could you, please, is wrong, fixed, fine now, works now, at the moment, "
        "its a const, because its a, easy to add",
        unless_assistant="you cant, i have to, ill have to, i had to, i must, you have to, you must",
        asked=False,
    ),
    "tech_debt": Rule(
        "todo, deferred, tech debt, workaround, hack, will address later, technical debt, todos, hacks, hacky, "
        "kludge, stopgap, quick fix, quick and dirty, dirty, band aid, brittle, fragile, hardcoded, hard coded, "
        "monkeypatch, monkeypatched, copy pasted, i copied, duplicated, duplication, dead code, commented out code, "
        "follow up, followup, separate pr, separately, another pr, out of scope, backlog, next sprint, next quarter, "
        "this quarter, next release, after the release, after launch, some day, someday, at some point, eventually, "
        "later on, down the road, left it, left that as is, left as is, leave that, leave as is, leaving that, "
        "leaving it, left in, stays in, is kept until, i left, i skipped, skipped the, i deferred, postponed, "
        "postponing, parked, put off, didnt touch, did not touch, did not do, didnt fix, dont fix, didnt do, "
        "havent done, not done, not handled, isnt handled, doesnt handle, not implemented, isnt implemented, "
        "unimplemented, stubbed, placeholder, good enough for, not pretty, not ideal, not great, ugly, live with, "
        "get away with, low priority, for the moment, for the time being, at present, temporarily, interim, "
        "should be replaced, to be replaced, be replaced by, should be removed, should be dropped, should be moved, "
        "can be deleted when, should go away, be addressed, have to migrate, should migrate, needs to come, "
        "needs a proper, needs proper, need to revisit, should revisit, revisit this, is still there, "
        "are still there, still uses, still relies, out of support, end of life, until somebody, until someone, "
        "until we, by hand, i pinned, pinned to, had to disable, had to pin, swallows, will be wrong, will break, "
        "itll break, will hurt, will fall over, wont scale, doesnt scale, pay for it, no locking, no validation, "
        "no retry, no way back, no tests, not tested, untested, not covered, clean it up, clean up later, "
        "cleanup later, known issue, known gap, the proper solution, proper fix, real fix, properly means, "
        "should refactor, needs refactoring, refactor it, should automate, suppressed, type ignore, noqa, no time, "
        "lack of time, somebody should, someone should, really should, really wants, flag one thing, heads up, "
        "well move, we will move, ill file, put it on, on the list, not idempotent, bearable, i disabled, "
        "leave it out, left out, whats missing, known gaps, of its own, not touching, havent changed, "
        "makes it worse, can go $, have to stay, has to stay, another day, id postpone, properly, plain text, "
        "clear text, no backoff, without backoff, vendored, vendor a, weve left, are behind, versions behind, "
        "drop support, should be undone, have to add, a known risk, known risk",
        "because, for now, temporary, acknowledged, deferring, cost, risk, until, until then, later, once, when we, "
        "when the, as soon as, before we, before production, eventually, some day, someday, at some point, "
        "next sprint, next quarter, this quarter, next release, after the, out of scope, follow up, should be, "
        "should, has to, have to, needs to, needs a, to keep the diff, instead of, rather than, since, otherwise, "
        "but, known, noted, acceptable, fine for, ok for, agreed, leave it, separate, separately, on purpose, "
        "deliberately, aware, ticket, issue, backlog, priority, remind me, reminder, we take, not now, wont do it, "
        "yet, may still, that is why, thats why, makes the, another day, for the moment, anyway, only didnt, isnt, "
        "without, accept, sounds reasonable, this year, in jira, file issues",
        weights=(0.3, 0.5, 1.9),
        by_human="fine for, dont fix, well fix, well do it, well clean, clean it up, well extract, do it later",
        other_meaning="todo list, todo lists, todo app, todo items, my todo, first todo, next todo, todos table, "
        "todos can, last todo, for todo, hack day, a hackathon, the deferred, old workaround, workaround for, "
        "defer to, temporary file, temporary files, temporary folder, temporary directory, temporary credentials, "
        "cost of running, follow up question, follow up questions, see you later, i left off, you left off, "
        "clean this up, legacy mode, placeholder text, i left it running, left in the, no tests failed, "
        "not implemented error, add a todo, make a todo, create a todo, a todo list, a todo app, a todo model",
        unless="removed the, i removed, i deleted, ive deleted, deleted it, isnt needed, not needed, "
        "no longer needed, replaced everywhere, is handled, what is, is there a, is that a, let me, marking the, "
        "moving on, i replaced, ill refactor, go ahead, do you want, should we, grep for, come back to, in a minute, "
        "in a few seconds, this time, good night, comes from, shall i, i fixed, ive fixed, ^ remove the, "
        "^ delete the, placeholders that you, i refactored, refactored the, i simplified",
        unless_assistant="now implement, next ill, now i, ill now",
        asked=False,
    ),
    "preference": Rule(
        "always use, prefer, convention, from now on, standard, never use, established, conventions, we always, "
        "we never, house style, style guide, best practice, going forward, from here on, our style, as a rule",
        "agreed, going forward, consistently, rule, practice, workflow, from now on, each one, everywhere, whenever, "
        "always, never, no exceptions, keep in mind, that in mind, convention, in this repo, in this project, "
        "in this codebase, in this team, habit, the rest of the, makes it easier",
        weights=(0.35, 0.5, 2.05),
        by_human="please dont, pls dont, dont use, dont ever, dont add, dont write, dont create, dont put, "
        "do not use, do not ever, do not add, do not create, never push, never commit, never add, but never, "
        "stop adding, stop using, stop writing, stop doing, stop putting, stop creating, avoid using, ^ avoid, "
        "always run, always add, always write, always ask, always check, always, we use, we only, we write, we dont, "
        "we do, we follow, we keep, we like, our rule, the rule is, that is our, thats our, thats how, i prefer, "
        "id like you to, i hate, i dont like, i dont want, i dont need, id rather, next time, the next ones, "
        "in future, in the future, whenever you, when you touch, when you write, when you add, every time, "
        "each one needs, in this repo, in this team, in this project, in this codebase, everywhere, keep your, "
        "keep that in mind, make sure you, make sure to, make it a habit, you should, without asking, ask me before, "
        "ask before, ask first, no exceptions, all _ in, all _ must, all _ should, every _ must, every _ should, "
        "every _ needs, ^ no default, ^ no more, no abbreviations, only why, lets agree, we agreed, the convention, "
        "as everywhere, remember to, i told you, as i said, i already said, when you, we name, we put, we dont have, "
        "not a fan, the guideline, guidelines say, guideline says, you keep, keep forgetting, each pr, every pr, "
        "each commit, every commit, id like every, id like each, please never, pls never, please always, "
        "could you always, can you always, ever $, for everything, please write, ^ use _ for, no _ no, unless i ask, "
        "do that every, so please, i want you to, i want all, i want every, i want each, stop apologising, "
        "stop explaining, stop asking, here we, we _ _ here, also create",
        boosters_by_assistant="understood, noted, got it, will do, ill do that, ill do so, ill follow, ill use, "
        "ill stick, ill keep, will keep, ill include, ill respect, ill write, ill ask, ill make sure, ill avoid, "
        "ill remember, i will, will use, ill remove, ill split, ill replace, will follow, ill only, from here on, "
        "each time, every time, rewritten, renamed, converted, reworded, switched, adjusted, point taken, "
        "my mistake, apologies, youre right, sorry, next ones, will avoid, and will, and ill, ill add, accordingly, "
        "that way, of course, ill outline, one at a time, wrapped, reverted, replaced by, will be",
        other_meaning="standard library, standard input, standard output, standard error, standard way, "
        "standard layout, standard ports, standard port, standard deviation, coding standard of, c standard, "
        "established in, is established, was established, established library, established connection, "
        "connection is established, by convention, i like it, i like that, preferred language, user preferences, "
        "next time it, never mind, never seen, never uses, never used, always the same, we use it, only the, "
        "i want to see, i want you to fix, i want to know, convention of the, usual naming convention, "
        "always the first",
        unless="which do you, would you prefer, do you prefer, some prefer, most projects, scheduler prefers, "
        "^ does it, for a moment, this time, in this commit, for this one, this button, yet, right now, never mind, "
        "second approach, i wonder, how do, what is, whats, in this case, just this once, for now",
        unless_assistant="i prefer, id prefer, i would prefer, it takes, prefers, in general, usually, "
        "from now on the, from now on it, the standard says, the usual, listens",
        asked=False,
    ),
}
