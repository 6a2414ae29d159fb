"""ThreadSanitizer's suppressions hide races of libraries only.

A suppression of a function hides every race below it.  So a function of this project may be suppressed only if it is one call of a library
that the compiler cannot move into its callers."""
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')


def sources():
    return [os.path.relpath(os.path.join(folder, file), ROOT) for top in ('host', 'plugins', 'plugin-sdk')
            for folder, _, files in os.walk(os.path.join(ROOT, top)) for file in files if file.endswith('.cpp')]


def bodies(function):
    """(file, what stands before the name, body) of each definition with that name at the left margin."""
    found = []
    for name in sources():
        with open(os.path.join(ROOT, name), encoding='utf-8') as f:
            text = f.read()
        for match in re.finditer(r'^(\S[^\n(]*\b)%s\([^{;]*\{\n(.*?)^\}' % re.escape(function), text, re.MULTILINE | re.DOTALL):
            found.append((name, match.group(1), match.group(2)))
    return found


class Suppressions(unittest.TestCase):
    def test_only_single_calls_of_libraries_are_suppressed(self):
        with open(os.path.join(ROOT, 'cmake', 'tsan.supp'), encoding='utf-8') as f:
            own = re.findall(r'^\w+:(backplane\S+)', f.read(), re.MULTILINE)
        self.assertTrue(own, 'the expression finds no suppression')
        for name in own:
            definitions = bodies(name.rsplit('::', 1)[-1])
            self.assertEqual(len(definitions), 1, name)
            file, before, body = definitions[0]
            self.assertIn('[[gnu::noinline]]', before, file)
            self.assertEqual(body.count(';'), 1, '%s: %s is more than one call' % (file, name))


if __name__ == '__main__':
    unittest.main()
