"""backplane_add_plugin() refuses wrong manifests, with their place."""
import os
import subprocess
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
SCRIPT = '''include(%s/cmake/BackplanePlugin.cmake)
_backplane_read_manifest(text "${FILE}")
message(NOTICE "${text}")
'''


class ManifestTest(unittest.TestCase):
    def read(self, text):
        """Exit code, output."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (('plugin.json', text), ('read.cmake', SCRIPT % SOURCE)):
                with open(os.path.join(folder, name), 'w') as f:
                    f.write(content)
            done = subprocess.run([os.environ['CMAKE'], '-DFILE=' + folder + '/plugin.json', '-P', folder + '/read.cmake'],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            return done.returncode, done.stdout

    def test_members_of_one_name_in_several_objects_are_no_duplicates(self):
        code, text = self.read('{"name": "a", "version": "1.0.0", "description": "[;] {\\"name\\": 1} \\\\",\n'
                               '"requires": [{"name": "b"}, {"name": "c"}]}')
        self.assertEqual((code, text.strip()), (0, '{"description":"[;] {\\"name\\": 1} \\\\","name":"a",'
                                                   '"requires":[{"name":"b"},{"name":"c"}],"version":"1.0.0"}'))

    def test_a_duplicate_member_is_refused_with_its_line(self):
        for text, line, name in (('{"name": "a",\n"version": "1.0.0",\n"name": "b"}', 3, 'name'),
                                 ('{"name": "a",\n"version": "1.0.0",\n"requires": [\n{"version": "1",\n"version":\n"2"}]}', 5, 'version')):
            code, output = self.read(text)
            self.assertEqual(code, 1, output)
            self.assertIn('plugin.json:%d: duplicate member "%s"' % (line, name), ' '.join(output.split()))


if __name__ == '__main__':
    unittest.main()
