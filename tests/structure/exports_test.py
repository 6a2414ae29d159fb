"""The SDK library exports what its public headers declare: no helpers of its sources, no rules for pods, no symbols of other libraries."""
import glob
import os
import re
import subprocess
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
# Headers of the engines are for the host and for built-in plugins.
HEADERS = [os.path.join(SOURCE, folder) for folder in ('plugin-sdk/include/backplane', 'plugin-sdk/engine/include/engine')]
LIBRARY = os.environ['SDK_LIBRARY']
MADE_FOR = re.compile(r'^(?:typeinfo name for|typeinfo for|vtable for|VTT for|guard variable for|(?:non-)?virtual thunk to) ')
# Namespaces of the public headers.
NAMESPACES = {'backplane', 'kit', 'cel', 'detail', 'abi', 'grpc', 'literals'}


def sources_of(pattern):
    return [path for folder in ('src', 'engine') for path in glob.glob(f'{SOURCE}/plugin-sdk/{folder}/**/{pattern}', recursive=True)]


def code_of(path):
    with open(path) as f:
        text = f.read()
    return re.sub(r'//[^\n]*|/\*.*?\*/', ' ', text, flags=re.S)


def declared():
    words = set()
    for path in [path for folder in HEADERS for path in glob.glob(folder + '/**/*.hpp', recursive=True)]:
        words |= set(re.findall(r'[A-Za-z_]\w*', code_of(path)))
    return words


def without_brackets(name):
    """Template arguments and parameters left out: backplane::Task<int>::operator() → backplane::Task::operator."""
    name = re.sub(r'operator(<<|<=>|<=|>=|<|>|->|\(\)|[^\s(A-Za-z]+)', 'operator', name)
    out, depth = '', 0
    for letter in name:
        if letter in '<([':
            depth += 1
        if depth == 0:
            out += letter
        if letter in '>)]':
            depth -= 1
    return out


def scopes(symbol):
    """The parts of a symbol's qualified name; text before it (a template function's result) is ignored."""
    plain = without_brackets(MADE_FOR.sub('', symbol)).replace(' const', '').strip()
    words = [word for word in plain.split(' ') if '::' in word] or plain.split(' ')[-1:]
    return [part.lstrip('~') for part in words[-1].split('::') if part]


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        listed = subprocess.run(['nm', '-DC', '--defined-only', LIBRARY], stdout=subprocess.PIPE, text=True, check=True).stdout
        cls.symbols = sorted({line.split(' ', 2)[2] for line in listed.splitlines()})

    def test_the_sdk_exports_symbols(self):
        self.assertGreater(len(self.symbols), 300)
        for expected in ('typeinfo for backplane::Strategy', 'typeinfo for backplane::StandardStorage', 'vtable for backplane::Plugin'):
            self.assertIn(expected, self.symbols)

    def test_every_symbol_is_declared_by_a_public_header(self):
        words = declared() | {'operator'}
        # The members of a public class's private implementation (State) have the visibility of the class.
        wrong_executor_calls = [symbol for symbol in self.symbols if scopes(symbol)[0] != 'backplane' or
                     not all(part in words for part in scopes(symbol.split('::State::')[0]))]
        self.assertEqual(wrong_executor_calls, [])

    def test_namespaces_of_the_sources_stay_inside(self):
        inner = {word for path in sources_of('*.[ch]pp')
                 for found in re.findall(r'namespace ([\w:]+) ?{', code_of(path)) for word in found.split('::')} - NAMESPACES
        self.assertEqual([symbol for symbol in self.symbols if set(scopes(symbol)) & inner], [])

    def test_sources_that_define_public_functions_say_so(self):
        """Clang gives a function the visibility of the namespace it is defined in, where g++ remembers its declaration."""
        sources = [path for path in sources_of('*.cpp') if not path.endswith('_test.cpp')]
        plain = [path for path in sources if re.search(r'^namespace (backplane|backplane::kit) {', code_of(path), re.M)]
        self.assertEqual(plain, [], 'write: namespace backplane BACKPLANE_API {')

    def test_no_asio_no_yaml_no_pods(self):
        wrong = re.compile(r'asio|yaml_cpp|YAML::|workload|[Pp]od_(spec|template|warnings|only)|allow_privileged|image_tag')
        self.assertEqual([symbol for symbol in self.symbols if wrong.search(symbol)], [])


if __name__ == '__main__':
    unittest.main()
