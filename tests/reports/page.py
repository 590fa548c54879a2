"""Parser of a page, for assertions on its elements and text."""

from html.parser import HTMLParser

VOID = {"meta", "br", "input", "link", "img"}


class Page(HTMLParser):
    """The elements of a page with their attributes, and its visible text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.words = []
        self._inside = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._inside.append(tag)

    def handle_endtag(self, tag):
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self._inside):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    @property
    def tags(self):
        return {tag for tag, _ in self.elements}

    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    def links(self):
        return [attributes["href"] for tag, attributes in self.elements if tag == "a"]
