# hot
"""Common words of developers on any topic. Sharing one of them says little about the topic of a text.

A store of fifty entries cannot learn them by itself: there, "error" may look as rare as a product's name.
"""

from __future__ import annotations

_COMMON = frozenset(
    (
        # verbs
        "accept access add address adjust allow answer appear apply approach ask assert avoid base become begin "
        "break bring build bump call change check choose clean clear click close code collect come commit compare "
        "complete compute configure confirm connect consider contain continue convert copy count cover crash create "
        "cut debug decide declare default define delete depend deploy describe design develop die differ disable "
        "display download draw drop edit enable end ensure enter estimate exist exit expect explain export extend "
        "extract fail fall fill filter find finish fit fix follow force forget format generate get give go group "
        "grow handle hang happen have hear help hide hit hold implement import improve include increase insert "
        "install integrate join keep kill know land launch lead learn leave let like limit link list listen live "
        "load log look lose make manage match mean measure merge migrate miss modify move need note notice open "
        "order parse pass paste pick place plan play point post prepare press prevent print produce propose prove "
        "provide publish pull push put raise reach read receive record reduce refactor reject release remember "
        "remove rename render repeat replace reply report request require reset resolve respond restart return "
        "revert review rewrite run save say schedule search see seem select send separate serve set share show sign "
        "simplify skip solve sort speak split start stay stop store stream submit suggest summarize support switch "
        "take talk tell test think toggle touch track transform translate trigger try turn type understand undo "
        "update upgrade upload use validate verify view wait walk want warn watch wish work worry wrap write "
        # nouns
        "ability account action api app application area argument array article attempt attribute author backend bit "
        "block body bool boolean box branch browser bug button byte case cause chance character class client column "
        "command comment company component computation computer condition config configuration connection console "
        "constant container content context control core course customer data database date day debugger definition "
        "dependency description detail developer device diagram diff directory doc document documentation domain "
        "editor element email endpoint engine entry environment error event example exception expression extension "
        "feature field figure file flag flow folder form framework frontend function guide half hand handler head "
        "header helper home hour html http icon id idea image implementation index info information input instance "
        "int integer interface issue item job json key keyword kind language layer length level library line local "
        "logic login loop machine main man manager menu message method minute mistake mode model module moment month "
        "morning name network night node none null number object option output package page pair panel parameter "
        "parent part password path pattern people person phone picture piece platform port position power practice "
        "present problem process product production profile program programmer project prompt property public "
        "purpose python question queue range rate reason reference repo repository resource response rest result "
        "right role root row rule sample screen script second section sense sequence server service session setting "
        "setup shape shell side site size software solution source space spec standard state statement status step "
        "string structure style subject suite sum system tab table tag target task team template term text thing "
        "thread ticket time title token tool top topic trouble unit url usage user util value variable version video "
        "warning way web week wheel window word worker world year "
        # adjectives, adverbs and the rest
        "able actual actually additional aggressive alive almost alone already alternative always another anybody "
        "anyone anything anyway away back bad basically behind best better big blank blue bottom broken btw bunch "
        "busy cant careful certain cheap common cool correct current currently dark dead deep definitely didnt "
        "different difficult direct dirty doesnt dont double dry due dynamic early easy either else empty enough "
        "entire equal even ever every everybody everyone everything everywhere exact existing extra false far fast "
        "few final fine first five four free fresh full further general generic global gonna good got gotta great "
        "hard heavy hello hey hi high hmm huge idk im important inner inside instead internal invalid isnt kinda "
        "large last late later least left less lets light likely little long looks lot loud low many maybe mine "
        "minor missing mobile modern much multiple near necessary never new newest next nice nobody nope normal "
        "nothing nvm obvious odd offline often oh ok okay old online optional original otherwise outer outside "
        "overall past perfect plain please pls plz possible pretty private probably proper quick quiet quite random "
        "rather ready real really recent red relative remote rid safe seems several short simple single six slim "
        "slow small smart somebody somehow someone something sometimes somewhere soon sorry sounds special specific "
        "stable static still straight strange strict strong stuff sure tbh ten thank thanks thats theres third "
        "though three today together tomorrow tonight total true twice two typical unless unused useful usual valid "
        "various weird well whatever whats whenever wherever whether whole wide within without wont wrong yeah yep "
        "yes yesterday yet zero "
    ).split()
)

_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ly", "ers", "able", "ion", "ions", "ation", "ment", "ments")
_SHORTEST = 3


def is_common(word: str) -> bool:
    """Return True if a lower-case word is a common one, in any of its forms, or a number."""
    if word in _COMMON or word.isdecimal():
        return True
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST:
            if stem in _COMMON or stem + "e" in _COMMON or (stem[-1] == stem[-2] and stem[:-1] in _COMMON):
                return True
            if ending in ("es", "ed", "er") and stem.endswith("i") and stem[:-1] + "y" in _COMMON:
                return True
    return False
