//! What may be drawn: a tree of elements and attributes that are known to do nothing but draw. No script, no link, no style
//! sheet, no address.

/// Elements of a picture.
const MAX_ELEMENTS: usize = 20_000;
/// How deep elements may stand in each other.
const MAX_DEPTH: usize = 100;

/// Elements that draw.
pub(super) const ELEMENTS: [&str; 21] = [
    "svg",
    "g",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "path",
    "text",
    "tspan",
    "title",
    "desc",
    "defs",
    "linearGradient",
    "radialGradient",
    "stop",
    "clipPath",
    "marker",
    "mask",
    "pattern",
];

/// Attributes that say where and how.
pub(super) const ATTRIBUTES: [&str; 66] = [
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "rx",
    "ry",
    "fx",
    "fy",
    "dx",
    "dy",
    "width",
    "height",
    "d",
    "points",
    "viewBox",
    "preserveAspectRatio",
    "transform",
    "fill",
    "fill-opacity",
    "fill-rule",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-miterlimit",
    "opacity",
    "visibility",
    "display",
    "color",
    "font-family",
    "font-size",
    "font-weight",
    "font-style",
    "text-anchor",
    "dominant-baseline",
    "alignment-baseline",
    "letter-spacing",
    "text-decoration",
    "offset",
    "stop-color",
    "stop-opacity",
    "gradientUnits",
    "gradientTransform",
    "clip-path",
    "clip-rule",
    "mask",
    "marker-start",
    "marker-mid",
    "marker-end",
    "markerWidth",
    "markerHeight",
    "refX",
    "refY",
    "orient",
    "rotate",
    "pathLength",
    "textLength",
    "vector-effect",
];

/// An element of a picture.
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// What it is.
    pub tag: String,
    /// Its name, if it has one.
    pub id: Option<String>,
    /// Where and how.
    pub attributes: Vec<(String, String)>,
    /// What it says.
    pub text: String,
    /// What is in it.
    pub inside: Vec<Element>,
}

impl Element {
    pub(super) fn new(tag: &str) -> Element {
        Element { tag: tag.to_string(), ..Element::default() }
    }

    /// Sets what is known to be harmless.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        if name == "style" {
            for part in value.split(';') {
                if let Some((name, value)) = part.split_once(':')
                    && name.trim() != "style"
                {
                    self.set(name.trim(), value.trim());
                }
            }
            return;
        }
        if !is_harmless(name, value) {
            return;
        }
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value.to_string(),
            None => self.attributes.push((name.to_string(), value.to_string())),
        }
    }

    pub(super) fn find<'e>(&'e mut self, id: &str) -> Option<&'e mut Element> {
        if self.id.as_deref() == Some(id) {
            return Some(self);
        }
        self.inside.iter_mut().find_map(|e| e.find(id))
    }

    /// Sets the text or an attribute, as VisB calls them.
    pub(super) fn update(&mut self, name: &str, value: &str) {
        match name {
            "text" => {
                self.text = value.to_string();
                self.inside.retain(|e| e.tag == "title");
            }
            "title" => {
                self.inside.retain(|e| e.tag != "title");
                self.inside.insert(0, Element { text: value.to_string(), ..Element::new("title") });
            }
            _ => self.set(name, value),
        }
    }
}

/// Whether an attribute only says how something is drawn.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    let lower = value.to_lowercase();
    // Only to a part of the picture itself.
    let leads_out = lower
        .match_indices("url(")
        .any(|(at, _)| !lower[at + 4..].trim_start_matches([' ', '"', '\'']).starts_with('#'));
    ATTRIBUTES.contains(&name) && !leads_out
}

/// An SVG text as elements that draw; others are left out, with all that is in them.
pub(super) fn read_svg(text: &str) -> Result<Element, String> {
    // Entities are not expanded: a document type is refused.
    let document = roxmltree::Document::parse(text).map_err(|e| format!("the SVG file is wrong: {e}"))?;
    let mut left = MAX_ELEMENTS;
    element(document.root_element(), 0, &mut left)
        .filter(|e| e.tag == "svg")
        .ok_or_else(|| "the SVG file has no picture".to_string())
}

fn element(node: roxmltree::Node, depth: usize, left: &mut usize) -> Option<Element> {
    let tag = node.tag_name().name();
    if depth > MAX_DEPTH || *left == 0 || !ELEMENTS.contains(&tag) {
        return None;
    }
    *left -= 1;
    let mut out = Element::new(tag);
    for a in node.attributes().filter(|a| a.namespace().is_none()) {
        match a.name() {
            "id" => out.id = Some(a.value().to_string()),
            name => out.set(name, a.value()),
        }
    }
    for child in node.children() {
        if child.is_element() {
            out.inside.extend(element(child, depth + 1, left));
        } else if let Some(text) = child.text().filter(|_| child.is_text()) {
            out.text.push_str(text.trim());
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_draws_is_left_of_an_svg() {
        let text = r##"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="a()">
            <script>a()</script><style>*{}</style><foreignObject><p/></foreignObject>
            <a xlink:href="javascript:a()"><rect/></a><image href="http://x/"/><use href="#r"/>
            <rect id="r" x="1" onclick="a()" style="fill:red;background:url(http://x/)" fill="url(http://x/)"
              stroke="url(#g)" class="card"/><text>hello<tspan>there</tspan></text></svg>"##;
        let svg = read_svg(text).expect("a picture");
        assert!(svg.attributes.is_empty());
        let tags: Vec<&str> = svg.inside.iter().map(|e| &*e.tag).collect();
        assert_eq!(tags, ["rect", "text"]);
        let expected: Vec<(String, String)> =
            [("x", "1"), ("fill", "red"), ("stroke", "url(#g)")].map(|(a, b)| (a.into(), b.into())).into();
        let mut found = svg.inside[0].attributes.clone();
        found.sort();
        let mut expected = expected;
        expected.sort();
        assert_eq!(found, expected);
        assert!(read_svg("<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>").is_err());
        assert!(read_svg("<p/>").is_err() && read_svg("nonsense").is_err());
    }
}
