#include <gtest/gtest.h>
#include <zlib.h>

#include "connections/html_links.hpp"
#include "connections/options.hpp"
#include "connections/packed_text.hpp"
#include "connections/pods.hpp"
#include "streams/remote_status.hpp"

namespace backplane::core {
namespace {

Object tree(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

TEST(LogOptions, BooleansAreWhatIsNotFalse) {
  const auto read = [](const char* value) { return read_log_options({{"follow", value}})->follow; };
  EXPECT_TRUE(read("true"));
  EXPECT_TRUE(read(""));
  EXPECT_TRUE(read("no"));
  EXPECT_FALSE(read("False"));
  EXPECT_FALSE(read("0"));
  EXPECT_FALSE(read_log_options({})->follow);
}

TEST(LogOptions, TwoTimesAreOneTooMany) {
  auto options = *read_log_options({{"sinceSeconds", "5"}, {"sinceTime", ""}});
  const Status refused = check_log_options(options, "p", false);
  EXPECT_EQ(refused.message(),
            "PodLogOptions \"p\" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified");
  EXPECT_EQ(refused.details()->causes[0].field, "[]");
}

TEST(LogOptions, StreamsBelongToAGate) {
  auto options = *read_log_options({});
  EXPECT_TRUE(check_log_options(options, "p", true).ok());
  EXPECT_EQ(kubelet_query(options, true), "stream=All");
  options = *read_log_options({{"stream", "Stderr"}, {"tailLines", "3"}});
  EXPECT_EQ(check_log_options(options, "p", true).message(),
            "PodLogOptions \"p\" is invalid: []: Forbidden: `tailLines` and specific `stream` are mutually exclusive for now");
  options = *read_log_options({{"stream", "both"}});
  EXPECT_EQ(check_log_options(options, "p", true).message(),
            "PodLogOptions \"p\" is invalid: stream: Unsupported value: \"both\": supported values: \"All\", \"Stderr\", \"Stdout\"");
}

TEST(CommandOptions, BecomeTheKubeletsQuery) {
  const Object options =
      read_exec_options({{"command", "sh"}, {"stdin", "true"}, {"stdout", "1"}, {"tty", ""}, {"command", "a b&c"}, {"container", "x"}});
  EXPECT_EQ(kubelet_query(options), "command=sh&command=a+b%26c&input=1&output=1&tty=1");
  EXPECT_EQ(
      to_json(options),
      R"({"kind":"PodExecOptions","apiVersion":"v1","stdin":true,"stdout":true,"tty":true,"container":"x","command":["sh","a b\u0026c"]})");
  EXPECT_EQ(kubelet_query(*read_port_forward_options({{"ports", "80,81"}, {"ports", "82"}})), "port=80%2C81%2C82");
}

TEST(Paths, AreEscapedAsURLsAre) { EXPECT_EQ(escape_path("/a b/ü?#%"), "/a%20b/%C3%BC%3F%23%25"); }

TEST(Addresses, OfAHostOrALinkAreNotGlobal) {
  for (const char* address : {"10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "2001:db8::1"})
    EXPECT_TRUE(is_global_unicast(address)) << address;
  for (const char* address : {"127.0.0.1", "0.0.0.0", "169.254.169.254", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "ff02::1",
                              "::ffff:127.0.0.1", "", "name"}) {
    EXPECT_FALSE(is_global_unicast(address)) << address;
  }
}

TEST(Names, MayHaveASchemeAndAPort) {
  const auto read = [](std::string_view id) {
    auto found = split_scheme_name_port(id, "pod");
    return found.ok() ? found->scheme + "|" + found->name + "|" + found->port : found.status().message();
  };
  EXPECT_EQ(read("p"), "|p|");
  EXPECT_EQ(read("p:80"), "|p|80");
  EXPECT_EQ(read("https:p:"), "https|p|");
  EXPECT_EQ(read("ftp:p:1"), "invalid pod request \"ftp:p:1\"");
  EXPECT_EQ(read(":80"), "invalid pod request \":80\"");
  EXPECT_EQ(read("a:b:c:d"), "invalid pod request \"a:b:c:d\"");
}

TEST(Pods, TheFirstDeclaredPortIsTheirs) {
  EXPECT_EQ(first_port(tree(R"({"spec":{"containers":[{"name":"a"},{"name":"b","ports":[{"containerPort":8080},{"containerPort":1}]}]}})")),
            "8080");
  EXPECT_EQ(first_port(tree(R"({"spec":{"containers":[{"name":"a"}]}})")), "");
  EXPECT_EQ(choose_container(tree(R"({"metadata":{"name":"p"},"spec":{}})"), "").status().message(),
            "a container name must be specified for pod p");
}

// ---- links

const LinkRules kRules{"10.0.0.5:80", "proxy.example", "/api/v1/pods/web/proxy"};

TEST(Links, ToTheBackendLeadThroughTheProxy) {
  EXPECT_EQ(rewrite_link(kRules, "/a/b?c=d#e"), "/api/v1/pods/web/proxy/a/b?c=d#e");
  EXPECT_EQ(rewrite_link(kRules, "http://10.0.0.5:80/x/"), "/api/v1/pods/web/proxy/x/");
  EXPECT_EQ(rewrite_link(kRules, "https://proxy.example/x"), "/api/v1/pods/web/proxy/x");
  EXPECT_EQ(rewrite_link(kRules, "/a/../b//c"), "/api/v1/pods/web/proxy/b/c");
  for (const char* kept : {"a/b", "http://elsewhere/x", "//elsewhere/x", "#top", "?q", "", "mailto:a@b", "data:text/plain,/x"}) {
    EXPECT_EQ(rewrite_link(kRules, kept), kept);
  }
  EXPECT_EQ(rewrite_link(kRules, "/api/v1/pods/web/proxy/x"), "/api/v1/pods/web/proxy/x");
}

std::string rewritten(const std::string& page, std::size_t step) {
  HtmlLinks links(kRules);
  std::string out;
  for (std::size_t at = 0; at < page.size(); at += step) out += links.feed(std::string_view(page).substr(at, step));
  return out + links.end();
}

TEST(HtmlLinks, OnlyLinksChangeWhateverThePieces) {
  const std::string page =
      "<!DOCTYPE html><!-- <a href=\"/no\"> --><A class=x HREF='/yes' title=\"/no > <a href='/no'>\">a < b</A><img src=/i.png>"
      "<script src=\"/s.js\">if (a<b) t = '<a href=\"/no\">';</script><style><a href=\"/no\"></style><form action=\"/f\" data-x=\"/no\">"
      "<a name href=\"\"><br/></form><textarea><a href=\"/no\"></textarea>5 <";
  const std::string wanted =
      "<!DOCTYPE html><!-- <a href=\"/no\"> --><A class=x HREF='/api/v1/pods/web/proxy/yes' title=\"/no > <a href='/no'>\">a < b</A>"
      "<img src=/api/v1/pods/web/proxy/i.png><script src=\"/api/v1/pods/web/proxy/s.js\">if (a<b) t = '<a href=\"/no\">';</script>"
      "<style><a href=\"/no\"></style><form action=\"/api/v1/pods/web/proxy/f\" data-x=\"/no\"><a name href=\"\"><br/></form>"
      "<textarea><a href=\"/no\"></textarea>5 <";
  for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{13}, page.size()})
    EXPECT_EQ(rewritten(page, step), wanted) << step;
}

TEST(HtmlLinks, ATagWithoutEndIsNotHeldForGood) {
  HtmlLinks links(kRules);
  std::string out = links.feed("<a href=\"" + std::string(HtmlLinks::kMaxTag, 'x'));
  EXPECT_EQ(out.size(), HtmlLinks::kMaxTag + 9);
  out = links.feed("<b>");
  EXPECT_EQ(out, "<b>");
}

TEST(PackedTexts, AreReadAndPackedAgain) {
  for (const char* coding : {"gzip", "deflate"}) {
    const auto writer = PackedText::of(coding), reader = PackedText::of(coding);
    const std::string text = "some text, " + std::string(100'000, 'x');
    std::string packed = writer->pack(text.substr(0, 10), false);
    packed += writer->pack(text.substr(10), true);
    EXPECT_LT(packed.size(), 1000u);
    std::string back;
    for (const char c : packed) back += reader->unpack(std::string_view(&c, 1));
    EXPECT_EQ(back, text);
    EXPECT_FALSE(reader->failed());
  }
  EXPECT_EQ(PackedText::of("br"), nullptr);
  const auto reader = PackedText::of("gzip");
  reader->unpack("this is not packed at all");
  EXPECT_TRUE(reader->failed());
}

TEST(PackedTexts, ThatUnpackToTooMuchFail) {
  const auto writer = PackedText::of("gzip"), reader = PackedText::of("gzip");
  const std::string packed = writer->pack(std::string(PackedText::kMost + 1, 'x'), true);
  reader->unpack(packed);
  EXPECT_TRUE(reader->failed());
}

// ---- ends of commands

TEST(FinalStatus, IsWhatTheKubeletSaid) {
  EXPECT_EQ(final_status("v4.channel.k8s.io", R"({"metadata":{},"status":"Success"})"), R"({"metadata":{},"status":"Success"})");
  EXPECT_EQ(final_status("v4.channel.k8s.io", ""), R"({"metadata":{},"status":"Success"})");
  EXPECT_EQ(
      final_status(
          "v4.channel.k8s.io",
          R"({"status":"Failure","reason":"NonZeroExitCode","message":"x","details":{"causes":[{"reason":"ExitCode","message":"3"}]}})"),
      R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: command terminated with exit code 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}})");
  const auto why = [](std::string_view protocol, std::string_view text) {
    return std::string(get_string(tree(final_status(protocol, text)), "message"));
  };
  EXPECT_EQ(why("v4.channel.k8s.io", R"({"status":"Failure","message":"no such container"})"),
            "Internal error occurred: no such container");
  EXPECT_EQ(why("v4.channel.k8s.io", R"({"status":"Failure","reason":"NonZeroExitCode"})"),
            "Internal error occurred: error stream protocol error: details must be set");
  EXPECT_EQ(why("v4.channel.k8s.io",
                R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"x"}]}})"),
            "Internal error occurred: error stream protocol error: invalid exit code value \"x\"");
  EXPECT_EQ(why("v4.channel.k8s.io", R"({"status":"Perhaps"})"), "Internal error occurred: error stream protocol error: unknown error");
  EXPECT_EQ(why("v2.channel.k8s.io", "exit status 2"), "Internal error occurred: error executing remote command: exit status 2");
}

TEST(FinalStatus, OfAFailureHasNoKind) {
  EXPECT_EQ(
      failed_status("broken"),
      R"({"metadata":{},"status":"Failure","message":"Internal error occurred: broken","reason":"InternalError","details":{"causes":[{"message":"broken"}]},"code":500})");
  EXPECT_EQ(refusal_text(R"({"message":" no ","error":"x"})"), "no");
  EXPECT_EQ(refusal_text(R"({"error":"x"})"), "x");
  EXPECT_EQ(refusal_text(" plain \n"), "plain");
  EXPECT_EQ(refusal_text(""), "empty server response");
}

}  // namespace
}  // namespace backplane::core
