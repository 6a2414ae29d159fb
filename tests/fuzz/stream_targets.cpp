#include "stream_targets.hpp"

#include "connections/html_links.hpp"
#include "connections/packed_text.hpp"
#include "require.hpp"
#include "streams/big_endian.hpp"
#include "streams/remote_status.hpp"
#include "streams/spdy_session.hpp"
#include "streams/websocket_server.hpp"

namespace backplane::fuzz {
namespace {

// Calls `each` with the bytes in pieces. The first byte selects the size of the pieces.
template <class Each>
void in_pieces(std::string_view bytes, const Each& each) {
  if (bytes.empty()) return;
  const std::size_t size = 1 + static_cast<unsigned char>(bytes.front());
  for (std::size_t at = 1; at < bytes.size(); at += size) each(bytes.substr(at, size));
}

}  // namespace

void kubelet_stream(std::string_view bytes) {
  core::spdy::Session session;
  for (const char* type : {"error", "stdin", "stdout"}) session.open("streamtype", type);
  session.take_output();
  std::size_t given = 0, got = 0;
  std::string ending;
  in_pieces(bytes, [&](std::string_view piece) {
    given += piece.size();
    session.feed(piece);
    for (auto event = session.next(); event.kind != core::spdy::Session::Event::Kind::kNeedsMore; event = session.next()) {
      if (event.kind == core::spdy::Session::Event::Kind::kBroken) break;
      got += event.data.size();
      if (event.stream == 1) ending += event.data;
      session.send(3, event.data);
    }
    FUZZ_REQUIRE(got <= given);
    // The output is bounded: the session responds to each ping and each opened stream, and the handler echoes received data.
    FUZZ_REQUIRE(session.take_output().size() <= 4 * (given + 64));
  });
  FUZZ_REQUIRE(!core::final_status("v4.channel.k8s.io", ending).empty());
  core::refusal_text(ending);
}

std::string kubelet_seed() {
  const auto number = [](std::uint32_t value) {
    std::string out;
    core::append_number(out, value);
    return out;
  };
  const std::string status =
      R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}})";
  const std::string reply = number(0x80030002) + number(4), ping = number(0x80030006) + number(4);
  return "\x20" + reply + number(1) + reply + number(5) + ping + number(2) + number(5) + number(2 | 1 << 24) + "hi" + number(1) +
         number(static_cast<std::uint32_t>(status.size()) | 1 << 24) + status;
}

void linked_page(std::string_view bytes) {
  core::HtmlLinks links({"10.0.0.1:80", "proxy", "/p"});
  std::size_t given = 0, got = 0, slashes = 0;
  in_pieces(bytes, [&](std::string_view piece) {
    given += piece.size();
    for (const char c : piece) slashes += c == '/' ? 1 : 0;
    got += links.feed(piece).size();
  });
  got += links.end().size();
  // A rewritten link grows by at most the prefix and a slash; it may lose the backend's host.
  FUZZ_REQUIRE(got <= given + 2 * slashes);
  for (const char* coding : {"gzip", "deflate"}) {
    const auto packed = core::PackedText::of(coding);
    in_pieces(bytes, [&](std::string_view piece) { FUZZ_REQUIRE(packed->unpack(piece).size() <= core::PackedText::kMost + (64 << 10)); });
  }
}

void websocket_messages(std::string_view bytes) {
  core::MessageReader reader;
  std::size_t given = 0, got = 0;
  in_pieces(bytes, [&](std::string_view piece) {
    given += piece.size();
    reader.feed(piece);
    for (auto event = reader.next(); event.kind != core::MessageReader::Event::Kind::kNeedsMore; event = reader.next()) {
      if (event.kind == core::MessageReader::Event::Kind::kBroken) break;
      got += event.data.size();
      FUZZ_REQUIRE(event.data.size() <= core::MessageReader::kMaxPiece);
    }
    FUZZ_REQUIRE(got <= given);
  });
}

}  // namespace backplane::fuzz
