"""Names as they are compared: no accents, no punctuation, lower case. The program folds what is typed the same way."""

import unicodedata

LETTERS = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t", "ə": "e"}
)
DROPPED = set("'’‘ʻʼʿʾ`´")


def fold(text):
    text = unicodedata.normalize("NFKD", text.lower())
    text = "".join(c for c in text if not unicodedata.combining(c) and c not in DROPPED).translate(LETTERS)
    return " ".join("".join(c if c.isalnum() else " " for c in text).split())
