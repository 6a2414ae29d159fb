// Tests of the rules, the controller and the admission rule with GoogleTest; a test server loads the plugin.
#include <gtest/gtest.h>
#include <backplane/testing/host.hpp>

using backplane::testing::Answer;
using backplane::testing::Host;

constexpr const char* kNovels =
    R"({"apiVersion":"library.example.com/v1","kind":"Shelf","metadata":{"name":"novels"},"spec":{"maxBooks":2}})";
constexpr const char* kMoby = R"({"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":"moby-dick"},
  "spec":{"title":"Moby-Dick","shelf":"novels"}})";

class Library : public ::testing::Test {
 protected:
  Host host{{BACKPLANE_PLUGIN_FILE}};
  backplane::testing::Resource shelves = host.resource("library.example.com/v1", "shelves");
  backplane::testing::Resource books = host.resource("library.example.com/v1", "books");
};

TEST_F(Library, TheControllerCountsTheBooksOfAShelf) {
  auto events = shelves.watch();
  ASSERT_EQ(shelves.create(kNovels).code(), 201);
  ASSERT_EQ(books.create(kMoby).code(), 201);
  shelves.wait_until("novels", [](const Answer& shelf) { return shelf.integer("/status/books") == 1; });
  books.remove("moby-dick");
  shelves.wait_until("novels", [](const Answer& shelf) { return shelf.integer("/status/books") == 0; });
  EXPECT_EQ(events.next()->text("/type"), "ADDED");
  EXPECT_EQ(events.next()->text("/type"), "MODIFIED");
}

TEST_F(Library, AShelfWithBooksIsNotDeleted) {
  shelves.create(kNovels);
  books.create(kMoby);
  shelves.wait_until("novels", [](const Answer& shelf) { return shelf.integer("/status/books") == 1; });
  const Answer refused = shelves.remove("novels");
  EXPECT_EQ(refused.code(), 403);
  EXPECT_NE(refused.message().find("the shelf has 1 books"), std::string::npos) << refused.body();
  books.remove("moby-dick");
  shelves.wait_until("novels", [](const Answer& shelf) { return shelf.integer("/status/books") == 0; });
  EXPECT_EQ(shelves.remove("novels").code(), 200);
  shelves.wait_gone("novels");
}

TEST_F(Library, AWrongShelfIsRefusedWithItsField) {
  shelves.create(kNovels);
  const Answer refused = shelves.patch("novels", R"({"spec":{"minBooks":3}})");
  EXPECT_EQ(refused.code(), 422);
  EXPECT_EQ(refused.text("/details/causes/0/field"), "spec.minBooks");
  EXPECT_EQ(shelves.get("novels").integer("/spec/maxBooks"), 2);
}

TEST(Hosts, SeveralRunInOneProgram) {
  Host one({BACKPLANE_PLUGIN_FILE}), two({BACKPLANE_PLUGIN_FILE});
  EXPECT_EQ(one.resource("library.example.com/v1", "shelves").create(kNovels).code(), 201);
  EXPECT_EQ(two.resource("library.example.com/v1", "shelves").get("novels").reason(), "NotFound");
  EXPECT_EQ(one.stop(), 0);
  EXPECT_EQ(two.stop(), 0);
}

TEST(Hosts, APluginThatDoesNotRunIsAnError) {
  EXPECT_THROW(Host({"no-such-file.so"}), std::runtime_error);
  EXPECT_THROW(Host({BACKPLANE_PLUGIN_FILE}, {"--disable-plugin=example.com/library"}), std::runtime_error);
}
