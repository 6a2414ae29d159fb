// Texts and their formats; the expected results are kube-apiserver 1.36's.
#include "cel/named_formats.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace backplane::schema {
namespace {

struct Row {
  std::string format;
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

TEST(FormatsTest, TextsHaveKubernetesFormats) {
  const std::string x63(63, 'x'), x64(64, 'x');
  const std::vector<Row> rows = {
      {"byte", {"YQ==", "YWI=", "YWJj", "++//"}, {"", "YQ", "YQ=", "YQ==\n", "YQ==YQ==", "-_-_", "===="}},
      {"hostname",
       {"a", "a-b", "a-", "1", "foo.example.com", "a.bc", "\xC3\xA9.com", "a--b.com", x63},
       {"", "-a", "a_b", "a.b", "a.1", "a.b1", "foo.example.com.", "a..b", "a-b-c", x64}},
      {"ipv4", {"1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4", "::ffff:01.2.3.4"}, {"", "1.2.3", "1.2.3.256", "1.2.3.4.5", "::1", " 1.2.3.4"}},
      {"ipv6", {"::", "::1", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"}, {"", "1.2.3.4", "1::2::3", "fe80::1%eth0", "::ffff:01.2.3.4"}},
      {"cidr", {"1.2.3.4/8", "01.2.3.4/08", "2001:db8::/32", "::ffff:1.2.3.4/120"}, {"1.2.3.4", "1.2.3.4/33", "1.2.3.4/", "/8", "::/129"}},
      {"mac",
       {"01:23:45:67:89:ab", "0123.4567.89ab.cdef", "01-23-45-67-89-ab", "0123456789ab"},
       {"01:23-45:67:89:ab", "0123456789a", "1:23:45:67:89:ab"}},
      {"email",
       {"a@b", "\"a b\"@c", "A B <a@b>", "A. B <a@b>", "\"A, B\" <a@b>", "<a@b>", "a@[1.2.3.4]", "a@b (c)", " a@b "},
       {"", "a@", "@b", "a b@c", "a..b@c", ".a@b", "a@b..c", "mailto:a@b", "a@b, c@d", "A <a@b> x", "(c) a@b", "\"\"@a", "a@b\n"}},
      {"isbn", {"0306406152", "0-306-40615-2", "080442957X", "978-0-306-40615-7", "030640615\t2"}, {"080442957x", "9780306406158", ""}},
      {"creditcard",
       {"4111-1111-1111-1111", "378282246310005", "a4111111111111111b"},
       {"1234567812345670", "4111111111111112", "0000000000000000"}},
      {"ssn", {"123-45-6789", "123 45 6789"}, {"123456789", "123-456789"}},
      {"rgbcolor", {"rgb(1,2,3)", "rgb( 255 ,0,0 )"}, {"rgb(256,0,0)", "rgb(1,2)", "rgb(1 2 3)", "rgb(1)2)3)", "rgb(01,2,3)"}},
      {"date", {"2020-02-29", "0000-01-01"}, {"2021-02-29", "2020-1-1", "12020-01-01"}},
      {"date-time",
       {"2020-01-01T00:00:00Z", "2020-01-01t00:00:00.1z", "2020-01-01T00:00:00x1Z", "2020-01-01T00:00:00+99:99", "2020-01-01T00:00:00ZTx"},
       {"2020-01-01T24:00:00Z", "2020-01-01T23:59:60Z", "2020-01-01T00:00:00", "2020-01-01 00:00:00Z", "2020-02-30T00:00:00Z", "T"}},
      {"duration",
       {"1h30m", "-1h", "3 days", "3 Days", "1wk", "1 minutes", "abc 3 days xyz", "0", "P1D"},
       {"", "1", "h", "3 fortnights", "1y", "99999999999999999999 days"}},
      {"uri",
       {"/", "/a", "http://a", "http:a", "mailto:a@b", "*", "http://[::1]"},
       {"", "a/b", ":a", "1http://a", "http://[::1", "http://a:b", "/%zz", "?a"}},
  };
  for (const Row& row : rows) {
    for (const std::string& text : row.good) EXPECT_TRUE(matches_format(row.format, text)) << row.format << ": " << text;
    for (const std::string& text : row.bad) EXPECT_FALSE(matches_format(row.format, text)) << row.format << ": " << text;
  }
}

}  // namespace
}  // namespace backplane::schema
