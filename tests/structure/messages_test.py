"""Messages have no codes: OpenSSL's codes (`error:0A000086:SSL routines::…`) come from ERR_error_string, which no source calls."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RAW = re.compile(r'\bERR_(error_string|print_errors)')


class MessagesTest(unittest.TestCase):
    def test_openssls_errors_are_worded_by_openssl_reason(self):
        sources = [path for folder in ('host', 'plugin-sdk', 'plugins') for path in (ROOT / folder).rglob('*.[ch]pp')]
        self.assertGreater(len(sources), 500)
        self.assertEqual([str(path.relative_to(ROOT)) for path in sources if RAW.search(path.read_text())], [])


if __name__ == '__main__':
    unittest.main()
