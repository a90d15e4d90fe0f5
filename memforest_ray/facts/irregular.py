"""Irregular verbs: forms that no stemmer brings together, so that "What did she lose?" finds "lost".

Left out are forms that mean something else as often ("rose", "bit", "ground", "wound", "lay", "bore"), and those of
verbs that are in every text ("did", "went", "said", "gave", "thought"): they would only make such words commoner.
"""

from typing import Final

__all__ = ["BASE_FORMS"]

_VERBS: Final = """
beat beaten; become became; begin began begun; bend bent; bleed bled; blow blew blown; break broke broken; breed bred;
bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen; creep crept;
deal dealt; dig dug; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten;
fall fell fallen; feed fed; fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden;
forget forgot forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten;
grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt;
lead led; lean leant; leap leapt; learn learnt; leave left; lend lent; light lit; lose lost; make made;
meet met; mistake mistook mistaken; overcome overcame; pay paid; prove proven; ride rode ridden; ring rang rung;
run ran; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken; shine shone;
shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid;
speak spoke spoken; spell spelt; spend spent; spill spilt; stand stood; steal stole stolen; stick stuck; strike struck;
swear swore sworn; sweep swept; swim swam swum; swing swung; take took taken; teach taught; tear tore torn;
tell told; throw threw thrown; understand understood; wake woke woken; wear wore worn; weep wept;
win won; withdraw withdrew withdrawn; write wrote written
"""

BASE_FORMS: Final = {form: base for base, *forms in (verb.split() for verb in _VERBS.split(";")) for form in forms}
"""Form -> the verb as a dictionary has it."""
