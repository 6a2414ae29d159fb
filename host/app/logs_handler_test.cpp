#include "app/logs_handler.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "endpoints/testing/harness.hpp"

namespace backplane {
namespace {

using testing::FakeExchange;
using testing::Response;

class LogsHandler : public ::testing::Test {
 protected:
  LogsHandler() {
    loop.start();
    std::filesystem::create_directories(folder + "/apt");
    write("one.log", "a line\n");
  }
  ~LogsHandler() override {
    std::filesystem::remove_all(folder);
    loop.stop();
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder + "/" + name, std::ios::binary) << text; }

  static Task<void> send(HttpHandler& handler, FakeExchange& exchange) {
    RequestContext context;
    context.exchange = &exchange;
    context.info.path = percent_decode(exchange.target(), false);
    co_await handler.handle(context, exchange);
  }
  Response ask(const std::string& path, const std::string& method = "GET") {
    auto exchange = std::make_shared<FakeExchange>(method, path, Headers(), "");
    run_on(loop, send(*handler, *exchange));
    return {exchange};
  }
  static std::string text(const Response& response) {
    std::string all;
    for (const auto& piece : response.exchange->writes) all += piece;
    return all;
  }

  IoLoop loop{"test"};
  const std::string folder = std::filesystem::temp_directory_path() / ("logs-" + std::to_string(getpid()));
  std::shared_ptr<HttpHandler> handler = make_logs_handler(folder);
};

TEST_F(LogsHandler, FoldersArePagesOfLinks) {
  write("a <b>&:c", "");
  const Response page = ask("/logs/");
  EXPECT_EQ(page.code(), 200);
  EXPECT_EQ(page.type(), "text/html; charset=utf-8");
  EXPECT_TRUE(
      page.body().ends_with("<pre>\n<a href=\"./a%20%3Cb%3E&:c\">a &lt;b&gt;&amp;:c</a>\n<a href=\"apt/\">apt/</a>\n"
                            "<a href=\"one.log\">one.log</a>\n</pre>\n"))
      << page.body();
  EXPECT_EQ(ask("/logs").exchange->headers_named("Location"), std::vector<std::string>{"logs/"});
  EXPECT_EQ(ask("/logs/apt").code(), 301);
  EXPECT_EQ(ask("/logs/apt").exchange->headers_named("Location"), std::vector<std::string>{"apt/"});
}

TEST_F(LogsHandler, FilesAreSentAsTheyAre) {
  Response file = ask("/logs/one.log");
  EXPECT_EQ(file.code(), 200);
  EXPECT_EQ(file.exchange->content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(text(file), "a line\n");
  EXPECT_TRUE(file.exchange->finished);
  const std::string large = std::string(600'000, 'x') + std::string(1, '\0');
  write("wtmp", std::string(1, '\0') + large);
  file = ask("/logs/wtmp");
  EXPECT_EQ(file.exchange->content_type, "application/octet-stream");
  EXPECT_EQ(text(file).size(), large.size() + 1);
  write("empty", "");
  file = ask("/logs/empty");
  EXPECT_EQ(file.code(), 200);
  EXPECT_TRUE(file.exchange->finished);
}

TEST_F(LogsHandler, NothingElseIsShown) {
  EXPECT_EQ(ask("/logs/two.log").code(), 404);
  EXPECT_EQ(ask("/logs/one.log/").code(), 404);
  EXPECT_EQ(ask("/logs/../x").code(), 400);
  EXPECT_EQ(ask("/logs/%2e%2e/x").code(), 400);
  EXPECT_EQ(ask("/logs/a%00b").code(), 404);
  EXPECT_EQ(ask("/logs/" + std::string(300, 'a')).code(), 404);
  EXPECT_EQ(ask("/logs/one.log", "DELETE").code(), 405);
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(ask("/logs/pipe").code(), 404) << "it would wait for its writer";
}

}  // namespace
}  // namespace backplane
