use std::path::{Component, Path};

/// The relative path from one folder to another.
pub(super) fn relative(from: &Path, to: &Path) -> String {
    let (Ok(from), Ok(to)) = (whole(from), whole(to)) else {
        return to.to_string_lossy().into_owned();
    };
    let from: Vec<Component> = from.components().collect();
    let to: Vec<Component> = to.components().collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| "..".to_owned());
    let down = to[common..]
        .iter()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let way: Vec<String> = up.chain(down).collect();
    if way.is_empty() {
        ".".to_owned()
    } else {
        way.join("/")
    }
}

/// The absolute path, with links resolved as far as the path exists.
fn whole(path: &Path) -> std::io::Result<std::path::PathBuf> {
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(_) => match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => {
                Ok(whole(parent)?.join(name))
            }
            (_, Some(name)) => Ok(std::env::current_dir()?.canonicalize()?.join(name)),
            _ => std::path::absolute(path),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_leads_up_and_down() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        assert_eq!(
            relative(&folder.path().join("out/site"), &logs),
            "../../logs"
        );
        assert_eq!(relative(&logs, &logs), ".");
        assert_eq!(relative(folder.path(), &logs), "logs");
    }
}
