"""The groups in which Release builds compile sources (cmake/BackplaneUnity.cmake)."""
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(groups LANGUAGES NONE)
include(%s)
backplane_unity(sources t %s)
"""


def unnamed(*lines):
    return 'namespace backplane {\nnamespace {\n\n%s\n\n}  // namespace\n\n}  // namespace backplane\n' % '\n'.join(lines)


class Unity(unittest.TestCase):
    def groups(self, **files):
        """The groups of more than one file."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                with open(os.path.join(folder, name + '.cpp'), 'w', encoding='utf-8') as f:
                    f.write(text)
            with open(os.path.join(folder, 'CMakeLists.txt'), 'w', encoding='utf-8') as f:
                f.write(PROJECT % (os.path.realpath(os.path.join(ROOT, 'cmake', 'BackplaneUnity.cmake')), ' '.join(
                    os.path.join(folder, name + '.cpp') for name in files)))
            build = os.path.join(folder, 'build')
            subprocess.run([os.environ.get('CMAKE', 'cmake'), '-S', folder, '-B', build, '-DCMAKE_BUILD_TYPE=Release'], check=True,
                           capture_output=True)
            made = os.path.join(build, 'groups', 't')
            out = []
            for name in sorted(os.listdir(made)) if os.path.isdir(made) else []:
                with open(os.path.join(made, name), encoding='utf-8') as f:
                    out.append(set(re.findall(r'/(\w+)\.cpp"', f.read())))
            return out

    def test_files_without_common_names_are_a_group(self):
        self.assertEqual(self.groups(one=unnamed('int first() { return 1; }'), two=unnamed('int second() { return 2; }')), [{'one', 'two'}])

    def test_files_that_define_the_same_name_are_not_in_one_group(self):
        text = unnamed('int first() { return 1; }')
        self.assertEqual(self.groups(one=text, two=text), [])

    def test_an_unnamed_function_takes_over_no_call_of_another_file(self):
        """A call of joined() that means a function of a header."""
        definition = unnamed('std::string joined(const Names& names) { return names.front(); }')
        call = 'std::string shown() {\n  return joined({}, ",");\n}\n'
        self.assertEqual(self.groups(definition=definition, call=call), [])
        self.assertEqual(self.groups(call=call, definition=definition), [])
        self.assertEqual(self.groups(definition=definition, other=call.replace('joined', 'made')), [{'definition', 'other'}])


if __name__ == '__main__':
    unittest.main()
