"""Pictures for benches/peers: panels with two logarithmic axes, as SVG, readable on a light and on a dark page."""
import math

COLOURS = ["#3b82c4", "#3a9e5c", "#c2487a", "#8a63c9", "#d9703a", "#a8901f", "#5b8a8a", "#9a6b4f", "#6a737d"]
STYLE = ("text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}.ground{fill:#ffffff}"
         ".dim{fill:#6a737d}.grid{stroke:#d8dee4;stroke-width:1;fill:none}.line{fill:none;stroke-width:1.6}"
         ".even{stroke:#6a737d;stroke-width:1;stroke-dasharray:4 3;fill:none}"
         "@media(prefers-color-scheme:dark){text{fill:#d6d9e0}.ground{fill:#16181d}.dim{fill:#8b949e}"
         ".grid{stroke:#353a43}.even{stroke:#8b949e}}")


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def seconds(t):
    return f"{t:g} s" if t >= 1 else f"{t * 1000:g} ms"


class Picture:
    def __init__(self, width, height, title):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">',
                      f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
                      '<rect width="100%" height="100%" rx="6" class="ground"/>']

    def text(self, x, y, text, size=11, anchor="start", css="dim", fill=None):
        colour = f' style="fill:{fill}"' if fill else f' class="{css}"'
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{colour}>{escape(text)}</text>')

    def path(self, d, css, colour=None):
        stroke = f' style="stroke:{colour}"' if colour else ""
        self.parts.append(f'<path class="{css}" d="{d}"{stroke}/>')

    def dot(self, x, y, colour, radius=2.2, hollow=False):
        inside = "none" if hollow else colour
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" style="fill:{inside};stroke:{colour}"/>')

    def done(self):
        return "\n".join(self.parts + ["</svg>"]) + "\n"


class Log:
    """From a value to a place between two ends, logarithmically; the range is widened to whole powers of ten."""

    def __init__(self, values, begin, end):
        self.low = math.floor(math.log10(min(values)) + 1e-9)
        self.high = max(math.ceil(math.log10(max(values)) - 1e-9), self.low + 1)
        self.begin, self.end = begin, end

    def __call__(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        return [10.0 ** k for k in range(self.low, self.high + 1)]
