"""Writes every mutant of a file into that file, each behind a switch.

`a + b` becomes `(match mutant() { 7 => (a - b), _ => (a + b) })`: one build holds all mutants, and the environment
variable MUTANT says which one is on. Every arm that is a mutant's stands between two tags, so that an error of the
compiler in it can be laid at the mutant's door.
"""

import re

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
OPERATIONS = ("binary_expression", "compound_assignment_expr")


def tagged(mutant, text):
    return f"\n/*<{mutant['id']}*/{text}/*{mutant['id']}>*/\n"


def tagged_lines(text):
    """The lines of each mutant's arm: (first, last, id), counted from 1."""
    arms = []
    for opened in re.finditer(r"/\*<(\d+)\*/", text):
        closed = text.index(f"/*{opened[1]}>*/", opened.end())
        first = text.count("\n", 0, opened.start()) + 1
        arms.append((first, first + text.count("\n", opened.start(), closed), int(opened[1])))
    return arms


class File:
    """`switch` is the expression that says which mutant is on."""

    def __init__(self, source, mutants, switch):
        self.source, self.switch = source, switch
        self.starts = [0]
        for line in source.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.root = PARSER.parse(source).root_node
        self.by_node = {}  # node id -> the mutants that change it
        self.instead = {}  # node id -> text that has been made for it already
        self.expressed = set()
        for mutant in mutants:
            node = self.node_of(mutant)
            if node is not None and not self.is_constant(node):
                self.by_node.setdefault(node.id, []).append(mutant)

    def offset(self, place):
        line = self.source[self.starts[place["line"] - 1] :].split(b"\n", 1)[0].decode()
        return self.starts[place["line"] - 1] + len(line[: place["column"] - 1].encode())

    def node_of(self, mutant):
        """The node that the mutant changes as a whole, or none if there is no way to switch it."""
        start, end = self.offset(mutant["span"]["start"]), self.offset(mutant["span"]["end"])
        node = self.root.descendant_for_byte_range(start, end)
        genre = mutant["genre"]
        if genre == "BinaryOperator":
            # The && of a let chain is not a binary operation.
            return node.parent if node.parent.type in OPERATIONS else None
        if genre == "UnaryOperator":
            node = self.root.descendant_for_byte_range(start, start + 1)
            return node.parent if node.parent.type == "unary_expression" else None
        wanted = {"FnValue": "function_item", "MatchArm": "match_arm", "MatchArmGuard": "match_arm"}.get(genre)
        # What `impl Trait` stands for is one type: two bodies would be two.
        if wanted is None or "-> impl " in mutant["name"]:
            return None
        while node is not None and node.type != wanted:
            node = node.parent
        return node

    def is_constant(self, node):
        """Whether the compiler evaluates it: there, no variable of the environment can be read."""
        while node is not None:
            if node.type in ("const_item", "static_item", "macro_definition"):
                return True
            if node.type == "function_item":
                return any(child.type == "function_modifiers" and b"const" in child.text for child in node.children)
            node = node.parent
        return False

    def text(self, start, end):
        return self.source[start:end].decode()

    def choice(self, mutants, arm, original):
        for mutant in mutants:
            self.expressed.add(mutant["id"])
        arms = "".join(tagged(mutant, f"{mutant['id']} => {arm(mutant)},") for mutant in mutants)
        return f"(match {self.switch} {{{arms}_ => ({original}) }})"

    def emit(self, node):
        if node.id in self.instead:
            return self.instead[node.id]
        mutants = self.by_node.get(node.id, [])
        if not mutants:
            return self.children(node)
        if node.type == "function_item":
            return self.function(node, mutants)
        if node.type == "match_arm":
            return self.match_arm(node, mutants)
        if node.type == "unary_expression":
            operand = self.text(node.children[0].end_byte, node.end_byte)
            return self.choice(mutants, lambda mutant: f"({operand})", self.children(node))
        operator = node.child_by_field_name("operator") or node.children[1]
        left = self.text(node.start_byte, operator.start_byte)
        right = self.text(operator.end_byte, node.end_byte)
        return self.choice(mutants, lambda mutant: f"({left}{mutant['replacement']}{right})", self.children(node))

    def children(self, node):
        if node.child_count == 0:
            return self.text(node.start_byte, node.end_byte)
        parts, at = [], node.start_byte
        for child in node.children:
            parts += [self.text(at, child.start_byte), self.emit(child)]
            at = child.end_byte
        return "".join(parts) + self.text(at, node.end_byte)

    def function(self, node, mutants):
        body = node.child_by_field_name("body")
        returns = ""
        for mutant in mutants:
            self.expressed.add(mutant["id"])
            replacement = f"if {self.switch} == {mutant['id']} {{ return {mutant['replacement']}; }}"
            returns += tagged(mutant, replacement)
        self.instead[body.id] = "{" + returns + self.children(body)[1:]
        return self.children(node)

    def match_arm(self, node, mutants):
        pattern = node.child_by_field_name("pattern")
        condition = pattern.child_by_field_name("condition")
        guard = None if condition is None else self.emit(condition)
        guards = [mutant for mutant in mutants if mutant["genre"] == "MatchArmGuard"]
        if guards and condition.type not in ("let_condition", "let_chain"):
            guard = self.choice(guards, lambda mutant: mutant["replacement"], guard)
        for mutant in mutants:
            if mutant["genre"] == "MatchArm":
                self.expressed.add(mutant["id"])
                is_off = tagged(mutant, f"{self.switch} != {mutant['id']}")
                guard = is_off if guard is None else f"{is_off} && {guard}"
        if guard is not None:
            end = pattern.end_byte if condition is None else pattern.children[0].end_byte
            self.instead[pattern.id] = f"{self.text(pattern.start_byte, end)} if {guard}"
        return self.children(node)


def instrument(source, mutants, switch):
    """The file with its mutants, and the ids of those that it could express."""
    file = File(source, mutants, switch)
    root = file.root
    text = file.text(0, root.start_byte) + file.emit(root) + file.text(root.end_byte, len(source))
    return text, file.expressed
