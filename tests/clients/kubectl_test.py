"""kubectl of the server's own version, built by the test, through the flows of tests/e2e."""
import os
import sys
import unittest

E2E = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e')
sys.path.insert(0, E2E)
import clients  # noqa: E402

try:
    os.environ['KUBECTLS'] = clients.build(['kubectl'])['kubectl']
    from flows_test import *  # noqa: E402,F401,F403
except clients.Missing as why:
    class Flows(unittest.TestCase):
        @unittest.skip('kubectl cannot be built: %s' % why)
        def test_flows(self):
            pass


if __name__ == '__main__':
    unittest.main()
