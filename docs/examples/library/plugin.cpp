// Serves library.example.com/v1: shelves and books. A controller writes the number of books into the status of each shelf.
#include <backplane/resource.hpp>

#include "group_json.hpp"
#include "library.hpp"
#include "library_json.hpp"

// Writes status.books of one shelf; `key` is "namespace/shelf".
class BookCounter {
 public:
  BookCounter(std::shared_ptr<SharedInformer> books, std::shared_ptr<HttpClient> client)
      : books_(std::move(books)), api_(std::move(client)) {}

  Task<Status> count(std::string key) {
    auto books = books_->indexer().index_keys("shelf", key);
    if (!books.ok()) co_return std::move(books).status();
    const auto shelf = split_object_key(key);
    Object change;
    change["status"] = Object{{"books", books->size()}};
    auto patched = co_await api_.patch(kShelves, shelf.first, shelf.second, PatchType::kMerge, change, "status");
    if (patched.ok() || patched.status().reason() == Reason::kNotFound) co_return Status();
    co_return std::move(patched).status();
  }

 private:
  std::shared_ptr<SharedInformer> books_;
  ApiClient api_;
};

class Library final : public Plugin {
  Status provision(Host& host) override {
    Status installed =
        kit::install_group(host, "example.com/library", kit::read_group(group_json()), kit::embedded_schemas({library_json()}));
    if (!installed.ok()) return installed;
    informers_ = std::make_unique<SharedInformerFactory>(host);
    auto books = informers_->for_resource(kBooks);
    if (Status indexed = books->indexer().add_indexers({{"shelf", shelf_of}}); !indexed.ok()) return indexed;
    auto queue = std::make_shared<WorkQueue>(host.executor());
    add_handlers(*books, queue);
    if (Status registered = host.register_admission(keep_shelves(books)); !registered.ok()) return registered;
    auto counter = std::make_shared<BookCounter>(books, host.client());
    return host.add_post_start_hook("library/count-books", [this, &host, queue, counter](PostStartHookContext context) {
      return start(host, queue, counter, context);
    });
  }

  // A change of a book concerns its former and its new shelf; a new shelf has no count yet.
  void add_handlers(SharedInformer& books, const std::shared_ptr<WorkQueue>& queue) {
    ResourceEventHandler handler;
    handler.on_add = [queue](const ObjectRef& book, bool) { queue->add(shelf_of(*book).front()); };
    handler.on_update = [queue](const ObjectRef& old, const ObjectRef& now) {
      queue->add(shelf_of(*old).front());
      queue->add(shelf_of(*now).front());
    };
    handler.on_delete = [queue](const ObjectRef& last, bool) { queue->add(shelf_of(*last).front()); };
    books.add_event_handler(std::move(handler));
    ResourceEventHandler shelves;
    shelves.on_add = [queue](const ObjectRef& shelf, bool) { queue->add(object_key(*shelf)); };
    informers_->for_resource(kShelves)->add_event_handler(std::move(shelves));
  }

  Task<Status> start(Host& host, std::shared_ptr<WorkQueue> queue, std::shared_ptr<BookCounter> counter, PostStartHookContext context) {
    context.stop.on_fire([queue] { queue->shut_down(); });
    informers_->start();
    const bool synced = co_await informers_->wait_for_cache_sync();
    if (!synced) co_return Status();
    spawn_workers(host, "count-books", 2, queue, [counter](std::string key) { return counter->count(std::move(key)); });
    co_return Status();
  }

  std::unique_ptr<SharedInformerFactory> informers_;
};
BACKPLANE_PLUGIN(Library)
