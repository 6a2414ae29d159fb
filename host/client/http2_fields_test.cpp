#include "client/http2_fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/io_loop.hpp"
#include "client/remote_session.hpp"

namespace backplane {
namespace {

class Http2FieldsTest : public testing::Test {
 protected:
  // Returns the fields as "name: value", with each name as nghttp2 sends it.
  std::vector<std::string> rows_of(HttpCall call) {
    const RemoteCall state(std::move(call), loop_);
    const Http2Fields fields(state, defaults_);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const nghttp2_nv& row = fields.data()[i];
      std::string name(reinterpret_cast<const char*>(row.name), row.namelen);
      if ((row.flags & NGHTTP2_NV_FLAG_NO_COPY_NAME) == 0) {
        for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 0x20 : c);
      }
      out.push_back(name + ": " + std::string(reinterpret_cast<const char*>(row.value), row.valuelen));
      if ((row.flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0) out.back() += " (unindexed)";
    }
    return out;
  }
  std::string last_of(Headers headers) {
    HttpCall call;
    call.headers = std::move(headers);
    return rows_of(std::move(call)).back();
  }

  IoLoop loop_{"fields"};
  Http2FieldDefaults defaults_{"https", "server:443"};
};

using Rows = std::vector<std::string>;

TEST_F(Http2FieldsTest, ARequestHasPseudoFieldsAndItsHeadersInLowerCase) {
  HttpCall call;
  call.method = "POST";
  call.target = "/a?b";
  call.headers = {{"Host", "other"}, {"Content-Type", "text/plain"}, {"x", ""}};
  call.body = "four";
  EXPECT_EQ(rows_of(call), (Rows{":method: POST", ":scheme: https", ":authority: other", ":path: /a?b", "content-type: text/plain",
                                 "x: ", "content-length: 4 (unindexed)"}));
  call.headers = {{"content-type", "application/grpc+proto"}};
  EXPECT_EQ(rows_of(call),
            (Rows{":method: POST", ":scheme: https", ":authority: server:443", ":path: /a?b", "content-type: application/grpc+proto"}));
}

// Names and values of all lengths are tested, because the code compares eight bytes at a time.
TEST_F(Http2FieldsTest, UpperCaseAndLineBreaksAreFoundAnywhere) {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string name(size, 'n');
      name[at] = 'Z';
      EXPECT_EQ(last_of({{name, "v"}}), std::string(at, 'n') + "z" + std::string(size - at - 1, 'n') + ": v");
      for (const char line_break : {'\r', '\n', '\0'}) {
        std::string value(size, '\x7f');
        value[at] = line_break;
        EXPECT_EQ(last_of({{"n", value}}), "n: " + std::string(at, '\x7f') + " " + std::string(size - at - 1, '\x7f'));
      }
    }
  }
  EXPECT_EQ(last_of({{"n", "tab\tand \xff bytes"}}), "n: tab\tand \xff bytes");
  EXPECT_EQ(last_of({{"Host", "a\nb"}, {"n", "v"}}), "n: v");
  HttpCall call;
  call.headers = {{"Host", "a\nb"}};
  EXPECT_EQ(rows_of(call)[2], ":authority: a b");
}

TEST_F(Http2FieldsTest, ATimeoutIsIndexedWhenItComesTwice) {
  EXPECT_EQ(last_of({{"grpc-timeout", "7m"}}), "grpc-timeout: 7m (unindexed)");
  EXPECT_EQ(last_of({{"grpc-timeout", "8m"}}), "grpc-timeout: 8m (unindexed)");
  EXPECT_EQ(last_of({{"grpc-timeout", "8m"}}), "grpc-timeout: 8m");
  EXPECT_EQ(last_of({{"grpc-timeout", "9m"}}), "grpc-timeout: 9m (unindexed)");
  EXPECT_EQ(last_of({{"grpc-timeout", "8m"}}), "grpc-timeout: 8m");
}

class IdlePort final : public RemotePort {
 public:
  void want_flush() override {}
  void want_read() override {}
  void has_room() override {}
  void flush_after(std::chrono::nanoseconds) override {}
};

// The types of the frames.
std::vector<int> types_of(std::string_view bytes) {
  constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  EXPECT_TRUE(bytes.starts_with(kPreface));
  bytes.remove_prefix(std::min(bytes.size(), kPreface.size()));
  std::vector<int> out;
  while (bytes.size() >= 9) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 3; ++i) size = size << 8U | static_cast<unsigned char>(bytes[i]);
    out.push_back(static_cast<unsigned char>(bytes[3]));
    bytes.remove_prefix(std::min(bytes.size(), 9 + size));
  }
  return out;
}

// The session's fields point into the request, which is freed when its call is given up.
TEST(Http2ClientSession, ACallThatIsGivenUpBeforeItIsSentIsNotSent) {
  IoLoop loop("session");
  IdlePort port;
  const auto session = make_http2_client_session(port, "server", {65'535, 65'535});
  const auto start = [&](std::size_t size) {
    HttpCall call;
    call.target = "/" + std::string(size, 'x');
    call.headers = {{std::string(size, 'n'), std::string(size, 'v')}};
    auto state = std::make_shared<RemoteCall>(std::move(call), loop);
    session->start(state);
    return state;
  };
  auto given_up = start(1000);
  const auto sent = start(10);
  const std::weak_ptr<RemoteCall> released = given_up;
  given_up->leave_carrier();
  given_up.reset();
  EXPECT_TRUE(released.expired());
  std::string out;
  session->fill(out, 1 << 20);
  const std::vector<int> types = types_of(out);
  EXPECT_EQ(std::count(types.begin(), types.end(), NGHTTP2_HEADERS), 1);
  EXPECT_LT(out.size(), 1000u);
  session->lost(service_unavailable("the test has ended"));
}

}  // namespace
}  // namespace backplane
