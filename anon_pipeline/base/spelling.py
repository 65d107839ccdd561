"""Names that a reader cannot distinguish, and characters that no name or path may hold.

Source: the idea of a skeleton is Unicode Technical Standard 39, section 4; the table is the part of its
confusables (version 15.1, © Unicode, Inc., https://www.unicode.org/license.txt) that looks like an ASCII
letter or digit where NFKC does not make it one, with small capitals and Coptic added. Not in it: what looks
alike within another script, and pairs of letters but for rn and m.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_LIKE = {
    "A": "ΑАᎪᗅⲀꓮ𐊠𖽀",
    "a": "ɑαаᴀ⍺ⲁ",
    "B": "ΒВЬᏴᗷⲂꓐꞴ𐊂𐊡𐌁",
    "b": "ƄƅʙᏏᑲᖯⲃ",
    "C": "ϹСᏟⲤꓚ𐊢𐌂𐐕𐔜𑣩𑣲🝌",
    "c": "ϲсᴄⅽⲥꮯ𐐽",
    "D": "Ꭰᗞᗪꓓ",
    "d": "ԁᏧᑯᴅⅾꓒ",
    "E": "ΕЕᎬ⋿Ⲉⴹꓰ𐊆𑢦𑢮",
    "e": "еҽᴇ℮ⲉꬲ",
    "F": "ϜᖴꓝꞘ𐊇𐊥𐔥𑢢𑣂𝈓",
    "f": "ſƒքẝꜰꞙꬵ",
    "G": "ԌᏀᏳꓖ",
    "g": "ƍɡɢցᶃ",
    "H": "ΗНᎻᕼⲎꓧ𐋏",
    "h": "ʜһհᏂ",
    "I": "ΙІӀӏⲒ",
    "i": "ıɩɪιіᎥ⍳ⲓꙇꭵ𑣃",
    "J": "ͿЈᎫᒍꓙꞲ",
    "j": "ϳјᴊ",
    "K": "ΚКᏦᛕⲔꓗ𐔘",
    "k": "κкᴋⲕ",
    "L": "ᏞᒪⳐꓡ𐐛𐔦𑢣𑢲𖼖𝈪",
    "l": "Ɩǀʟ\u05c0\u05d5\u05df\u0627\u0661۱\u07caᛁⅼ∣⏽ⵏꓲ𐊊𐌉𐌠𖼨\U0001e8c7",
    "M": "ΜϺМᎷᗰᛖⲘꓟ𐊰𐌑",
    "m": "ᴍⅿⲙ",
    "N": "ΝⲚꓠ𐔓",
    "n": "ɴոռⲛ",
    "O": "ΟОՕ\u07c0০ଠ୦ዐⲞⵔ〇ꓳ𐊒𐊫𐐄𐓂𐔖𑓐𑢵𑣠",
    "o": "οσоօ\u05e1\u0647\u0665\u06be\u06c1\u06d5۵०੦૦௦౦೦ഠ൦๐໐ဝ၀ჿᴏᴑⲟꬽ𐐬𐓪𑣈𑣗",
    "P": "ΡРᏢᑭⲢꓑ𐊕",
    "p": "ρрᴘ⍴ⲣ",
    "Q": "Ԛⵕ",
    "q": "ԛգզꞯ",
    "R": "ƦᎡᏒᖇꓣ𐒴𖼵𝈖",
    "r": "ʀгᴦⲅꭇꭈꮁ",
    "S": "ЅՏᏕᏚꓢ𐊖𐐠𖼺",
    "s": "ƽѕꜱꮪ𐑈𑣁",
    "T": "ΤТᎢ⊤⟙Ⲧꓔ𐊗𐊱𐌕𑢼𖼊🝨",
    "t": "ᴛⲧ",
    "U": "ԱՍሀᑌ∪⋃ꓴ𐓎𑢸𖽂",
    "u": "ʋυսᴜꞟꭎꭒ𐓶𑣘",
    "V": "Ѵ\u0667۷Ꮩᐯⴸꓦꛟ𐔝𑢠𖼈𝈍",
    "v": "νѵ\u05d8ᴠ∨⋁ꮩ𑜆𑣀",
    "W": "ԜᎳᏔꓪ𑣦𑣯",
    "w": "ɯѡԝաᴡꮃ𑜊𑜎𑜏",
    "X": "ΧХ᙭ᚷ╳ⲬⵝꓫꞳ𐊐𐊴𐌗𐌢𐔧𑣬",
    "x": "×χхᕁᕽ᙮⤫⤬⨯ⲭ",
    "Y": "ΥУҮᎩᎽⲨꓬ𐊲𑢤𖽃",
    "y": "ɣʏγуүყᶌỿⲩꭚ𑣜",
    "Z": "ΖԐᏃⲌꓜ𐋵𑢩𑣥",
    "z": "ᴢⲍꮓ𑣄",
    "'": "´ʹʼ‘’′",
    "-": "‐‑‒–—―⁃−﹘",
    ".": "․",
    "/": "⁄∕",
    "2": "ƧϨᒿꙄꛯꝚ",
    "3": "ƷȜЗзӠⳌꝪꞫ𑣊𖼻𝈆",
    "4": "Ꮞ𑢯",
    "5": "Ƽ𑢻",
    "6": "бᏮⳒ𑣕",
    "7": "𐓒𑣆𝈒",
    "8": "Ȣȣ৪੪𐌚\U0001e8cb",
    "9": "৭੧୨൭ⳊꝮ𑢬𑣌𑣖",
    ":": "։\u05c3∶",
}
_CONFUSABLE = str.maketrans({other: shown for shown, others in _LIKE.items() for other in others})
_ONE_SHAPE = str.maketrans("I1|0O", "llloo")
_UNSEEN = {"\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u2800", "\u3164", "\uffa0"}
_BIDI = {*"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}


def is_plain(text: str) -> bool:
    """Tell whether a text has no control character, no line separator, and none that turns the direction."""
    return text.isprintable() or not any(  # of all these, none is printable
        unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _BIDI for char in text
    )


def escape(text: str) -> str:
    """Write a name in ASCII, so that names that look alike can be distinguished.

    >>> escape("аge")
    '\\\\u0430ge'
    """
    return text.encode("unicode_escape").decode()


def skeleton(name: str) -> str:
    """Return what names that look alike have in common, whatever their case.

    Compatible forms are made equal (NFKC), what is not seen is removed, letters of other scripts become the
    Latin ones that they look like, and case does not count.
    """
    folded = to_latin(name).casefold().translate(_CONFUSABLE).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def to_latin(name: str) -> str:
    """Write letters as the Latin ones that they look like; without what is not seen."""
    shown = unicodedata.normalize("NFKC", name.translate(_CONFUSABLE))
    return "".join(char for char in shown if _is_visible(char)).translate(_CONFUSABLE)


def _looks(name: str) -> tuple[tuple[str, str], ...]:
    """Return three looks of a name; names that have one in common look alike.

    Without case; without case and with the Latin letters that those of other scripts look like; and as it is
    written, where I, l, 1 and | are one, O, o and 0, rn and m: ``Id`` looks like ``ld``, and ``id`` does not.
    """
    shape = to_latin(name).translate(_ONE_SHAPE).replace("rn", "m")
    folded = unicodedata.normalize("NFKC", name).casefold()
    return ("folded", folded), ("skeleton", skeleton(name)), ("shape", " ".join(shape.split()))


def _is_visible(char: str) -> bool:
    variation = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return not (unicodedata.category(char) == "Cf" or char in _UNSEEN or variation)


def look_alikes(names: Iterable[str], others: Iterable[str] | None = None) -> list[tuple[str, str]]:
    """List pairs of different names that look alike.

    Args:
        names: compared with each other, or with ``others`` if these are given.
        others: names of another place.
    Returns:
        Pairs, in the order of ``names``; each name is in one pair at most.
    """
    seen: dict[tuple[str, str], str] = {}
    pairs = []
    for other in others or ():
        seen.update(dict.fromkeys(_looks(other), other))
    for name in names:
        looks = _looks(name)
        before = next((seen[look] for look in looks if seen.get(look, name) != name), None)
        if before is not None:
            pairs.append((before, name))
        elif others is None:
            seen.update(dict.fromkeys(looks, name))
    return pairs
