"""A plugin of each tier is reloaded under load (bench/reload_soak.py): no request fails, and watches go on without a gap or a repetition."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../bench'))
import reload_soak  # pylint: disable=wrong-import-position

RELOADS = int(os.environ.get('BACKPLANE_RELOADS', '20'))


class Soak(unittest.TestCase):
    def soak(self, tier):
        measured = reload_soak.run(tier, RELOADS, rate=500, connections=2, settled=False)
        print(measured)
        self.assertEqual(measured['failures'], [])
        self.assertEqual(measured['watch problems'], [])
        self.assertGreater(measured['requests'], RELOADS)
        self.assertGreaterEqual(measured['resumed'], measured['watches'], 'each watch has ended with a reload')

    def test_the_native_tier(self):
        self.soak(reload_soak.Native)

    @unittest.skipUnless(reload_soak.shutil.which(os.environ.get('CC', 'gcc')), 'no C compiler')
    def test_the_stable_tier(self):
        self.soak(reload_soak.Stable)


if __name__ == '__main__':
    unittest.main()
