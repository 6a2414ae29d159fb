"""The fingerprints of the SDK's headers: one for each folder, which changes with the folder's declarations alone, and the folders of a plugin."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
SCRIPT = os.path.join(SOURCE, 'cmake/BackplaneContract.cmake')
FOLDERS = ['core', 'types', 'points', 'rest', 'net', 'host']


class Contract(unittest.TestCase):
    def setUp(self):
        # Like an installation: the headers of the SDK and of the libraries that use it, in one folder.
        self.dir = tempfile.mkdtemp(prefix='backplane-contract-')
        self.addCleanup(shutil.rmtree, self.dir)
        for folder in ('include', 'kit/include', 'workload/include'):
            shutil.copytree(os.path.join(SOURCE, 'plugin-sdk', folder), os.path.join(self.dir, 'include'), dirs_exist_ok=True)

    def run_script(self, *definitions):
        return subprocess.run([os.environ['CMAKE'], *('-D' + one for one in definitions), '-P', SCRIPT], stdout=subprocess.PIPE, text=True, check=True).stdout

    def prints(self):
        """By folder, and by header of points/."""
        return dict(re.findall(r'^-- ([\w/]+) ([0-9a-f]{8})$', self.run_script('INCLUDE=' + os.path.join(self.dir, 'include')), re.M))

    def change(self, header, old, new):
        path = os.path.join(self.dir, 'include/backplane', header)
        with open(path) as f:
            text = f.read()
        self.assertIn(old, text)
        with open(path, 'w') as f:
            f.write(text.replace(old, new, 1))

    def changed_by(self, change):
        before = self.prints()
        change()
        after = self.prints()
        self.assertEqual(list(after), list(before))
        self.assertEqual(list(after)[:len(FOLDERS)], FOLDERS)
        return [name for name in after if after[name] != before[name]]

    def test_they_are_what_plugins_are_stamped_with(self):
        with open(os.environ['CONTRACT']) as f:
            text = f.read()
        prints = self.prints()
        self.assertIn('{%s}' % ', '.join('0x%su' % prints[folder] for folder in FOLDERS), text)
        points = [(name[len('points/'):], print_) for name, print_ in prints.items() if name.startswith('points/')]
        self.assertIn('{%s}' % ', '.join('{"%s.hpp", 0x%su}' % row for row in points), text)

    def test_a_change_of_a_library_on_top_is_no_change_of_the_contract(self):
        self.assertEqual(self.changed_by(lambda: self.change('workload/pod_validation.hpp', 'bool allow_privileged = false;',
                                                             'bool allow_privileged = false;\n  bool allow_host_ports = true;')), [])
        self.assertEqual(self.changed_by(lambda: self.change('kit/strategy.hpp', '#pragma once', '#pragma once\nstruct New {};')), [])

    def test_the_stable_tier_is_no_part_of_the_contract(self):
        """And the contract none of the stable tier, whose headers include nothing else (plugins/stable_tables_test.py)."""
        self.assertEqual(self.changed_by(lambda: self.change('stable/base.h', 'typedef struct bp_text', 'typedef struct bp_new bp_new;\ntypedef struct bp_text')), [])

    def test_a_change_of_a_declaration_changes_its_folder_alone(self):
        for header, folder in (('rest/strategy.hpp', 'rest'), ('points/http.hpp', 'points'), ('types/schema.hpp', 'types'), ('net/client.hpp', 'net'),
                               ('core/task.hpp', 'core'), ('host.hpp', 'host'), ('plugin.hpp', 'host')):
            with self.subTest(header):
                changed = self.changed_by(lambda header=header: self.change(header, '\nclass ', '\nclass New {};\nclass '))
                self.assertEqual(changed, [folder] + ([header[:-len('.hpp')]] if folder == 'points' else []))

    def add_header(self, path):
        with open(os.path.join(self.dir, 'include/backplane', path), 'w') as f:
            f.write('struct New {};\n')

    def test_a_new_header_counts(self):
        self.assertEqual(self.changed_by(lambda: self.add_header('rest/new.hpp')), ['rest'])

    def test_a_header_without_a_bit_in_the_stamp_is_refused(self):
        self.add_header('points/new.hpp')
        with self.assertRaises(subprocess.CalledProcessError):
            self.prints()

    def test_a_removed_header_of_an_extension_point_leaves_the_bits_of_the_others(self):
        before = self.prints()
        os.remove(os.path.join(self.dir, 'include/backplane/points/peers.hpp'))
        after = self.prints()
        self.assertEqual({name: after[name] for name in after if name.startswith('points/')},
                         {**{name: before[name] for name in before if name.startswith('points/')}, 'points/peers': '00000000'})

    def test_comments_white_space_and_includes_do_not_count(self):
        self.assertEqual(self.changed_by(lambda: self.change('rest/strategy.hpp', '#pragma once', '// In other words.\n\n\n#pragma once\n#include <array>')), [])

    def test_no_text_of_a_header_looks_like_a_comment(self):
        """The fingerprint omits everything after two slashes."""
        for folder, _, files in os.walk(os.path.join(self.dir, 'include/backplane')):
            for name in files:
                with open(os.path.join(folder, name)) as f:
                    for line in f:
                        self.assertNotRegex(line.split('//')[0] + '//' if '//' in line else '', r'^([^"]*"[^"]*")*[^"]*"[^"]*//', name)

    def uses(self, source):
        paths = {name: os.path.join(self.dir, name) for name in ('source.cpp', 'job.cmake', 'uses.h', 'library.cmake', 'library_job.cmake')}
        with open(paths['source.cpp'], 'w') as f:
            f.write(source)
        libraries = os.path.join(SOURCE, 'plugin-sdk')
        headers = ';'.join('%s/%s' % (folder, name) for library in ('kit', 'workload')
                           for folder, _, names in os.walk(os.path.join(libraries, library, 'include/backplane')) for name in names)
        jobs = {'library_job.cmake': (headers, ';'.join(os.path.join(libraries, part) for part in ('include', 'kit/include', 'workload/include')), 'library.cmake'),
                'job.cmake': (paths['source.cpp'], os.path.join(self.dir, 'include'), 'uses.h')}
        for job, (sources, roots, output) in jobs.items():
            with open(paths[job], 'w') as f:
                f.write('set(SOURCES "%s")\nset(ROOTS "%s")\nset(OUTPUT "%s")\nset(DEPFILE "%s.d")\n' % (sources, roots, paths[output], paths[output]))
                if job == 'job.cmake':
                    f.write('set(LIBRARIES "%s")\n' % paths['library.cmake'])
        self.run_script('LIBRARY=' + paths['library_job.cmake'])
        self.run_script('PLUGIN=' + paths['job.cmake'])
        with open(paths['uses.h']) as f:
            text = f.read()
        bits = int(re.search(r'BACKPLANE_PLUGIN_POINTS (\w+)u', text)[1], 0)
        names = [name[len('points/'):] for name in self.prints() if name.startswith('points/')]
        self.points = {name for i, name in enumerate(names) if bits >> i & 1}
        return re.findall(r'BP_USES_(\w+)', text)

    def test_a_plugin_uses_the_folders_that_its_sources_include_and_what_those_include(self):
        self.assertEqual(self.uses(''), ['CORE', 'HOST'])
        self.assertEqual(self.uses('#include <backplane/plugin.hpp>\n'), ['CORE', 'POINTS', 'HOST'])
        self.assertEqual(self.uses('#include "backplane/types/cel.hpp"\n'), ['CORE', 'TYPES', 'HOST'])
        self.assertIn('NET', self.uses('#include <backplane/controller.hpp>\n'))

    def test_a_plugin_uses_the_extension_points_that_its_sources_include_and_what_those_include(self):
        for source, points in (('', set()), ('#include <backplane/plugin.hpp>\n', {'hooks'}), ('#include <backplane/points/admission.hpp>\n', {'admission'}),
                               ('#include "backplane/points/audit.hpp"\n', {'audit', 'authorization'}),
                               ('#include <backplane/rest/conversion.hpp>\n', {'storage'})):
            with self.subTest(source):
                self.uses(source)
                self.assertEqual(self.points, points)
        self.uses('#include <backplane/kit/group.hpp>\n')
        self.assertIn('storage', self.points)
        self.assertNotIn('audit', self.points)

    def test_a_plugin_uses_the_folders_that_a_library_of_its_own_uses(self):
        self.assertEqual(self.uses('#include <backplane/kit/group.hpp>\n'), ['CORE', 'TYPES', 'POINTS', 'REST', 'HOST'])
        self.assertIn('NET', self.uses('#include <backplane/kit/front_proxy.hpp>\n'))

    def test_the_source_of_a_header_of_the_kit_has_its_name(self):
        """So that BackplaneContract.cmake finds the declarations after it."""
        kit = os.path.join(SOURCE, 'plugin-sdk/kit')
        without = {name for name in os.listdir(kit + '/include/backplane/kit') if not os.path.exists('%s/src/%scpp' % (kit, name[:-3]))}
        self.assertEqual(without, {'group_check.hpp', 'path.hpp', 'published.hpp', 'published_snapshot.hpp'})


if __name__ == '__main__':
    unittest.main()
