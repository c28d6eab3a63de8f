use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A name as names are compared: without accents and punctuation, in lower case.
///
/// `data/build/fold.py` folds the shipped names the same way.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let letters = text.chars().flat_map(char::to_lowercase).nfkd();
    for c in letters.filter(|c| !is_combining_mark(*c)) {
        match c {
            '\'' | '’' | '‘' | 'ʻ' | 'ʼ' | 'ʿ' | 'ʾ' | '`' | '´' => {}
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'ı' => folded.push('i'),
            'ħ' => folded.push('h'),
            'ŧ' => folded.push('t'),
            'ə' => folded.push('e'),
            c if c.is_alphanumeric() => folded.push(c),
            _ if folded.is_empty() || folded.ends_with(' ') => {}
            _ => folded.push(' '),
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

/// A folded name with a capital at the start of each word.
pub(crate) fn capitalised(folded: &str) -> String {
    let mut name = String::with_capacity(folded.len());
    let mut start = true;
    for c in folded.chars() {
        if start {
            name.extend(c.to_uppercase());
        } else {
            name.push(c);
        }
        start = c == ' ';
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_case_and_punctuation_do_not_matter() {
        assert_eq!(fold("São Paulo"), fold("SAO  paulo"));
        assert_eq!(fold("Saint-Étienne"), "saint etienne");
        assert_eq!(fold("L'Aquila"), "laquila");
        assert_eq!(fold("Łódź"), "lodz");
        assert_eq!(fold(" .,- "), "");
    }

    #[test]
    fn capitals_come_back() {
        assert_eq!(capitalised("new york city"), "New York City");
    }
}
