"""What a plugin's stamp depends on: the SDK's headers, and no rule for pods."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))


class Contract(unittest.TestCase):
    def setUp(self):
        # As they are installed: the headers of the SDK and of the libraries beside it; the contract looks at the first alone.
        self.dir = tempfile.mkdtemp(prefix='backplane-contract-')
        self.addCleanup(shutil.rmtree, self.dir)
        for folder in ('include', 'workload/include'):
            shutil.copytree(os.path.join(SOURCE, 'plugin-sdk', folder), os.path.join(self.dir, folder))

    def hash(self):
        done = subprocess.run([os.environ['CMAKE'], '-DINCLUDE=' + os.path.join(self.dir, 'include'), '-P',
                               os.path.join(SOURCE, 'cmake/BackplaneContract.cmake')], stdout=subprocess.PIPE, text=True, check=True)
        return re.fullmatch(r'-- ([0-9a-f]{16})\n', done.stdout).group(1)

    def change(self, header, old, new):
        path = os.path.join(self.dir, header)
        with open(path) as f:
            text = f.read()
        self.assertIn(old, text)
        with open(path, 'w') as f:
            f.write(text.replace(old, new, 1))

    def test_it_is_what_plugins_are_stamped_with(self):
        with open(os.environ['CONTRACT']) as f:
            self.assertIn('0x%sULL' % self.hash(), f.read())

    def test_a_change_of_a_rule_for_pods_is_no_change_of_the_contract(self):
        before = self.hash()
        self.change('workload/include/backplane/workload/pod_validation.hpp', 'bool allow_privileged = false;',
                    'bool allow_privileged = false;\n  bool allow_host_ports = true;')
        self.assertEqual(self.hash(), before)

    def test_a_change_of_what_the_sdk_declares_is(self):
        before = self.hash()
        self.change('include/backplane/strategy.hpp', '  const KindFacts& facts() const', '  virtual bool cluster_wide() const { return false; }\n'
                    '  const KindFacts& facts() const')
        self.assertNotEqual(self.hash(), before)

    def test_a_new_header_and_one_of_the_kit_count_too(self):
        before = self.hash()
        with open(os.path.join(self.dir, 'include/backplane/kit/new.hpp'), 'w') as f:
            f.write('struct New {};\n')
        self.assertNotEqual(self.hash(), before)

    def test_comments_and_white_space_do_not_count(self):
        before = self.hash()
        self.change('include/backplane/strategy.hpp', '#pragma once', '// Said in other words.\n\n\n#pragma once')
        self.assertEqual(self.hash(), before)


if __name__ == '__main__':
    unittest.main()
