"""Finds the places in a C++ file where a small fault can be made.

A tokenizer and a stack of brackets, no compiler: the code is formatted by clang-format, so `a < b` with spaces is a
comparison and `vector<int>` is not. A fault that does not compile is dropped after the build (see mutants.py).
"""
import dataclasses
import re

TOKEN = re.compile(
    r'(?P<space>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*)'
    r'|(?P<text>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"\w*|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"\w*'
    r"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r'|(?P<name>[A-Za-z_]\w*)'
    r'|(?P<sign><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||<<|[-+*/%&|^=!<>]=|\[\[|.)', re.S | re.M)

TURNED = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&'}
ASSIGNMENTS = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}
# Where an operand of a comparison ends.
LOOSER = ASSIGNMENTS | {',', ';', '?', ':', '&&', '||', '&', '|', '^', 'return', 'co_return', 'co_yield', 'else', 'do', 'throw',
                        '==', '!=', '<', '<=', '>', '>=', '<=>'}
NO_EXPRESSION = {'return', 'co_return', 'co_yield', 'if', 'for', 'while', 'switch', 'const', 'constexpr', 'auto', 'using', 'static',
                 'throw', 'break', 'continue', 'case', 'default', 'goto', 'struct', 'class', 'enum', 'assert', 'static_assert',
                 'template', 'try', 'catch', 'else', 'do', 'delete', 'thread_local', 'unsigned', 'int', 'bool', 'char', 'double',
                 'typedef', 'extern', 'mutable', 'public', 'private', 'protected', 'friend', 'operator', 'union', 'namespace'}
# A call without which the program only runs more slowly.
ONLY_FASTER = {'reserve', 'shrink_to_fit', 'prefetch', 'static_cast', 'assert'}
TIME_LIMITS = {'expires_after', 'expires_at', 'expires_by', 'allow'}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int
    match: int = -1  # index of the other bracket
    frame: str = ''  # of an opening bracket: namespace, class, enum, function, block, lambda, init, or the bracket itself


@dataclasses.dataclass
class Place:
    """A fault: `start` to `end` of the file become what `pieces` says: texts, and pairs (start, end) of what is kept."""
    kind: str
    start: int
    end: int
    pieces: list  # of str, with @ for the number of the fault, and of (start, end)
    original: str
    mutated: str


def tokens_of(source):
    found = []
    for m in TOKEN.finditer(source):
        kind = m.lastgroup if m.lastgroup != 'mark' else 'text'
        if kind == 'space':
            continue
        text = m.group(kind)
        if text == '[[':  # an attribute is nothing to us: two brackets
            found.append(Token('sign', '[', m.start(), m.start() + 1))
            found.append(Token('sign', '[', m.start() + 1, m.end()))
        else:
            found.append(Token(kind, text, m.start(), m.end()))
    return found


class File:
    def __init__(self, source, constants=()):
        self.source = source
        self.constants = constants
        self.tokens = tokens_of(source)
        self.places = []
        self._match_brackets()
        self._match_angles()
        self._find()

    # Structure

    def _spaced(self, i):
        t = self.tokens[i]
        return self.source[t.start - 1].isspace() and self.source[t.end:t.end + 1].isspace()

    def _match_brackets(self):
        stack, head = [], 0  # head: the first token of the statement
        heads = []
        tokens = self.tokens
        self.inside = []  # per token: index of the innermost opening bracket, or -1
        for i, t in enumerate(tokens):
            if t.text in ('(', '[', '{') and t.kind == 'sign':
                self.inside.append(stack[-1] if stack else -1)
                t.frame = self._frame_of(i, head, stack) if t.text == '{' else t.text
                stack.append(i)
                heads.append(head)
                head = i + 1
            elif t.text in (')', ']', '}') and t.kind == 'sign' and stack:
                opened = stack.pop()
                tokens[opened].match, t.match = i, opened
                self.inside.append(stack[-1] if stack else -1)
                head = heads.pop()
                if t.text == '}' and tokens[opened].frame not in ('init', 'lambda'):
                    head = i + 1
            else:
                self.inside.append(stack[-1] if stack else -1)
                if t.text == ';':
                    head = i + 1

    def _frame_of(self, i, head, stack):
        tokens = self.tokens
        words = [t.text for t in tokens[head:i]]
        before = tokens[i - 1].text if i else ''
        outer = tokens[stack[-1]].frame if stack else 'namespace'
        if 'namespace' in words[:2]:
            return 'namespace'
        while words[:1] == ['template']:  # past its parameters
            depth = 0
            for n, w in enumerate(words[1:], 1):
                depth += w.count('<') - w.count('>')
                if depth == 0:
                    words = words[n + 1:]
                    break
            else:
                words = []
        if 'enum' in words[:2]:
            return 'enum'
        if words[:1] and words[0] in ('class', 'struct', 'union') and '(' not in words:
            return 'class'
        if words[:2] == ['extern', '"C"']:
            return 'namespace'
        closes_capture = before == ']' and not (i > 1 and tokens[i - 2].text == ']')
        after_parens = before in (')', 'mutable', 'noexcept') or '->' in words and before not in (',', '(', '=')
        if outer in ('namespace', 'class', 'enum'):
            if '=' in words:  # a variable, or a lambda that is one
                return 'lambda' if closes_capture or before == ')' and ']' in words else 'init'
            if '(' not in words:
                return 'init'
            if before in (')', '}', 'const', 'noexcept', 'override', 'final', 'try') or '->' in words:
                return 'constexpr' if 'constexpr' in words or 'consteval' in words else 'function'
            return 'init'
        if outer in ('(', '[', 'init'):
            return 'lambda' if closes_capture or after_parens and ']' in words else 'init'
        if before in ('', ';', '{', '}', 'else', 'do', 'try', ':') or before == ']' and not closes_capture:
            return 'block'
        if words[:1] and words[0] in ('if', 'for', 'while', 'switch', 'catch', 'else', '}') and '[' not in words[-3:] and before == ')':
            opening = tokens[tokens[i - 1].match - 1].text if tokens[i - 1].match > 0 else ''
            if opening in ('if', 'for', 'while', 'switch', 'catch', 'constexpr'):
                return 'block'
        if closes_capture or after_parens and ']' in words:
            return 'lambda'
        return 'init'

    def _match_angles(self):
        """Marks what is within the brackets of a template."""
        self.in_template = [False] * len(self.tokens)
        opened = []
        for i, t in enumerate(self.tokens):
            if t.text in (';', '{', '}'):
                opened = []
            if t.kind == 'sign' and t.text == '<' and not self._spaced(i) and i and self.tokens[i - 1].kind == 'name':
                opened.append(i)
            elif t.kind == 'sign' and t.text in ('>', '>=') and opened and not self._spaced(i):
                for k in range(opened.pop(), i + 1):
                    self.in_template[k] = True

    def _frames(self, i):
        at = self.inside[i]
        while at != -1:
            yield at
            at = self.inside[at]

    def _is_code(self, i):
        """Whether the token is in the body of a function that runs."""
        if self.in_template[i]:
            return False
        runs = False
        for at in self._frames(i):
            t = self.tokens[at]
            if t.frame == 'constexpr':
                return False
            if t.frame in ('function', 'lambda'):
                runs = True
            if t.frame in ('class', 'enum') and not runs:
                return False
            if t.frame == '(' and at:
                before = self.tokens[at - 1].text
                if before in ('assert', 'static_assert', 'constexpr', 'noexcept', 'decltype', 'sizeof', 'alignas', 'requires'):
                    return False
                if before == 'if' and self.tokens[at - 2].text == 'constexpr':
                    return False
        if not runs:
            return False
        first = self._statement_start(i)
        words = {t.text for t in self.tokens[first:first + 3]}
        return not words & {'constexpr', 'static_assert', 'case', 'assert', 'using', 'template', 'default'}

    def _statement_start(self, i):
        """The first token of the innermost statement around token i."""
        at = i
        while at > 0:
            before = self.tokens[at - 1]
            if before.text in (';', '{') and (before.text == ';' or before.frame not in ('init',)):
                return at
            if before.text == '}' and before.match >= 0 and self.tokens[before.match].frame not in ('init', 'lambda'):
                return at
            if before.text in (')', ']', '}') and before.match >= 0:
                at = before.match
                continue
            at -= 1
        return 0

    # Places

    def _text(self, first, last):
        return self.source[self.tokens[first].start:self.tokens[last].end]

    def _add(self, kind, first, last, pieces, original, mutated):
        self.places.append(Place(kind, self.tokens[first].start, self.tokens[last].end, pieces,
                                 ' '.join(original.split()), ' '.join(mutated.split())))

    def _span(self, first, last):
        return self.tokens[first].start, self.tokens[last].end

    def _has_await(self, first, last):
        return any(t.text in ('co_await', 'co_yield') for t in self.tokens[first:last + 1])

    def _operand(self, i, step, looser):
        """The last token of the operand beside token i, to the left or the right."""
        at = i
        while True:
            t = self.tokens[at + step]
            if t.text in looser and (t.kind == 'name' or self._spaced(at + step) or t.text in (',', ';', '?', ':')):
                return at
            if t.text in (('(', '[', '{') if step < 0 else (')', ']', '}')):
                return at
            if t.match >= 0:
                opened = t.match if step < 0 else at + step
                if t.text in '{}' and self.tokens[opened].frame not in ('init', 'lambda'):
                    return at
                if step < 0 and self.tokens[opened - 1].text in ('if', 'while', 'for', 'switch') and t.text == ')':
                    return at
                at = t.match
            else:
                at += step

    def _find(self):
        for i, t in enumerate(self.tokens):
            if t.text == 'if' or t.text == 'while':
                self._condition(i)
            if t.kind == 'sign' and t.text in TURNED and self._spaced(i):
                self._operator(i)
            elif t.kind == 'number' or t.kind == 'name':
                self._constant(i)
            if t.text == 'scoped_lock':
                self._lock(i)
            if i and (t.kind == 'name' or t.text in ('*', '++', '--', '(')):
                self._statement(i)

    def _operator(self, i):
        op = self.tokens[i].text
        looser = LOOSER
        if op == '&&':
            looser = ASSIGNMENTS | {',', ';', '?', ':', '||', 'return', 'co_return', 'co_yield', 'else', 'throw'}
        elif op == '||':
            looser = ASSIGNMENTS | {',', ';', '?', ':', 'return', 'co_return', 'co_yield', 'else', 'throw'}
        elif op in ('==', '!='):
            looser = LOOSER - {'<', '<=', '>', '>=', '<=>'}
        first, last = self._operand(i, -1, looser), self._operand(i, 1, looser)
        if first == i or last == i or not self._is_code(i) or self._has_await(first, last):
            return
        left, right = self._span(first, i - 1), self._span(i + 1, last)
        kind = 'logic' if op in ('&&', '||') else 'comparison'
        if op in ('==', '!='):
            pieces = ['(injected::is(@) != (', left, f' {op} ', right, '))']
        else:
            pieces = ['(injected::is(@) ? (', left, f' {TURNED[op]} ', right, ') : (', left, f' {op} ', right, '))']
        self._add(kind, first, last, pieces, self._text(first, last),
                  f'{self._text(first, i - 1)} {TURNED[op]} {self._text(i + 1, last)}')

    def _condition(self, i):
        opened = i + 1
        if self.tokens[opened].text != '(' or not self._is_code(i):
            return
        first, last = opened + 1, self.tokens[opened].match - 1
        for at in range(last, first, -1):  # an initialiser before it
            if self.tokens[at].text == ';' and self.inside[at] == opened:
                first = at + 1
                break
        words = [t.text for t in self.tokens[first:last + 1] ]
        is_declaration = any(t.text == '=' and self.inside[at] == opened
                             for at, t in enumerate(self.tokens[first:last + 1], first)) or words[0] in ('auto', 'const')
        if is_declaration or self._has_await(first, last) or 'is_constant_evaluated' in words:
            return
        whole, text = self._span(first, last), self._text(first, last)
        if words != ['true']:
            self._add('condition', first, last, ['!injected::is(@) && (', whole, ')'], text, 'false')
        if self.tokens[i].text == 'if':
            self._add('condition', first, last, ['injected::is(@) || (', whole, ')'], text, 'true')

    def _constant(self, i):
        t = self.tokens[i]
        before = self.tokens[i - 1].text if i else ''
        after = self.tokens[i + 1].text if i + 1 < len(self.tokens) else ''
        if t.kind == 'name':
            if t.text in ('true', 'false'):
                if self._is_code(i) and before != '==' and not self._is_named_constant(i):
                    other = 'false' if t.text == 'true' else 'true'
                    self._add('constant', i, i, ['(injected::is(@) != ', self._span(i, i), ')'], t.text, other)
                return
            if t.text not in self.constants or after in ('(', '::', '{', '<', '=', '[') or before in ('::', '.', '->', '&'):
                return
        if not self._is_code(i) or self._is_bound(i) or t.kind == 'number' and self._is_named_constant(i):
            return
        if re.fullmatch(r"0[xXbB][\w']+", t.text):
            return  # masks
        for mutated in self._moved(t):
            self._add('constant', i, i, [f'(injected::is(@) ? {mutated} : ', self._span(i, i), ')'], t.text, mutated)

    @staticmethod
    def _moved(t):
        if t.kind == 'name':
            return [f'2 * {t.text}']
        if re.fullmatch(r"[\d']+[uUlLzZ]*", t.text):
            if re.fullmatch(r'0[uUlLzZ]*', t.text):
                return ['1' + t.text[1:]]
            return [f'{t.text} + 1', re.sub(r"^[\d']+", '0', t.text)]
        return [f'2 * {t.text}']

    def _is_named_constant(self, i):
        """Whether the token alone makes up a constant: the compiler would have it without the fault."""
        first = self._statement_start(i)
        return any(t.text == 'constexpr' for t in self.tokens[first:i])

    def _is_bound(self, i):
        opened = self.inside[i]
        if opened < 2 or self.tokens[opened].text != '[':
            return False
        name, kind = self.tokens[opened - 1], self.tokens[opened - 2]
        return name.kind == 'name' and (kind.kind == 'name' and kind.text not in ('return', 'co_return') or kind.text == '>')

    def _lock(self, i):
        tokens = self.tokens
        if [t.text for t in tokens[i - 2:i]] != ['std', '::'] or tokens[i + 1].kind != 'name' or tokens[i + 2].text != '{':
            return
        last = tokens[i + 2].match
        if tokens[last + 1].text != ';' or not self._is_code(i) or any(t.text == ',' for t in tokens[i + 3:last]):
            return
        self._add('lock', i - 2, last, [f'injected::lock_unless {tokens[i + 1].text}{{@, ', self._span(i + 3, last - 1), '}'],
                  self._text(i - 2, last), '')

    def _statement(self, i):
        tokens = self.tokens
        before = tokens[i - 1]
        starts = before.text == ';' or before.text == 'else' or before.frame in ('function', 'block', 'lambda')
        if before.text == '}' and before.match >= 0:
            starts = tokens[before.match].frame in ('block', 'function')
        if before.text == ')' and before.match > 0:
            starts = tokens[before.match - 1].text in ('if', 'while', 'for') or \
                tokens[before.match - 1].text == 'constexpr' and tokens[before.match - 2].text == 'if'
        if self.inside[i] >= 0 and tokens[self.inside[i]].text in '([':  # the parts of for (;;)
            return
        if not starts or not self._is_code(i) or tokens[i].text in NO_EXPRESSION:
            return
        at, called, is_expression = i, '', tokens[i].text in ('++', '--')
        first = i + 1 if tokens[i].text == 'co_await' else i
        while tokens[at].text != ';':
            t = tokens[at]
            if t.text in ('}', ')', ']') and t.match < at and t.match >= 0 and t.match < i:
                return
            previous = tokens[at - 1] if at > first else None
            if previous is not None and not is_expression and not self.in_template[at] and t.kind == 'name' and \
                    (previous.kind == 'name' or previous.text in ('>', '&', '*') and self.source[previous.end].isspace()):
                return  # a declaration
            if t.text in ASSIGNMENTS:
                is_expression = True
            if t.text == '(' and previous is not None and previous.kind == 'name':
                called = previous.text
            if t.text == '{' and not is_expression and t.frame == 'init' and previous is not None and previous.kind == 'name':
                return
            at = t.match + 1 if t.text in ('(', '[', '{') else at + 1
            if at >= len(tokens):
                return
        if not is_expression and tokens[at - 1].text not in (')', '++', '--') or called in ONLY_FASTER:
            return
        if not is_expression and tokens[at - 1].text == ')' and not called and tokens[i].text != '(':
            return
        names = {t.text for t in tokens[i:at]}
        kind = 'time limit' if names & TIME_LIMITS else 'statement'
        self._add(kind, i, at, ['{ if (!injected::is(@)) ', self._span(i, at), ' }'], self._text(i, at), '')


CONSTANT = re.compile(r'\bconstexpr\s+[\w:<>, ]+?\b(\w+)\s*(?:=|\{)\s*([^;]*);')


def constants_of(source):
    """Names of numbers and durations that a file declares: their uses can be moved, the declaration cannot."""
    return {name for name, value in CONSTANT.findall(source) if re.search(r'\d', value) and '"' not in value and '[' not in value}


def places_of(source, constants=()):
    return File(source, constants).places


def rendered(source, chosen):
    """The source with all chosen faults in it: pairs of a number and a Place, nested or apart."""
    order = sorted(chosen, key=lambda c: (c[1].start, -c[1].end, c[0]))

    def text(start, end, faults):
        out, at, k = [], start, 0
        while k < len(faults):
            number, place = faults[k]
            inner = [f for f in faults[k + 1:] if f[1].end <= place.end]
            out.append(source[at:place.start])
            out.append(''.join(p.replace('@', str(number)) if isinstance(p, str) else
                               text(*p, [f for f in inner if f[1].start >= p[0] and f[1].end <= p[1]]) for p in place.pieces))
            at = place.end
            k += 1 + len(inner)
        return ''.join(out) + source[at:end]

    return text(0, len(source), order)
