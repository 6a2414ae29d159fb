#include "routing/published_paths.hpp"

#include <algorithm>

namespace backplane {

Status path_taken(const std::string& path, const std::string& registrant) {
  return Status(Reason::kAlreadyExists, "path " + quoted(path) + " is already handled by " + registrant);
}

Status PublishedPaths::publish(const std::string& registrant, PathRoute route) {
  std::lock_guard lock(mutex_);
  auto rows = std::make_shared<Rows>(*rows_.get());
  auto& row = (*rows)[route.path];
  if (row && row->registrant != registrant) return path_taken(route.path, row->registrant);
  row = std::make_shared<const Row>(Row{std::move(route), registrant});
  store(std::move(rows));
  return {};
}

Status PublishedPaths::withdraw(const std::string& registrant, const std::string& path) {
  std::lock_guard lock(mutex_);
  auto rows = std::make_shared<Rows>(*rows_.get());
  const auto found = rows->find(path);
  if (found == rows->end() || found->second->registrant != registrant) {
    return Status(Reason::kNotFound, "path " + quoted(path) + " has not been published by " + registrant);
  }
  rows->erase(found);
  store(std::move(rows));
  return {};
}

void PublishedPaths::store(std::shared_ptr<const Rows> rows) {
  any_.store(!rows->empty(), std::memory_order_release);
  rows_.set(std::move(rows));
}

std::shared_ptr<HttpHandler> PublishedPaths::find(std::string_view path) const {
  if (!any_.load(std::memory_order_acquire)) return nullptr;
  const auto rows = rows_.get();
  // Looks for the path, then for its ancestors up to the root. For "/a/b/c", these are "/a/b/", "/a/b", "/a/" …
  for (std::string_view part = path; !part.empty();) {
    const auto row = rows->find(part);
    if (row != rows->end() && (part.size() == path.size() || row->second->route.prefix)) return row->second->route.handler;
    if (part.back() == '/') {
      part.remove_suffix(1);
    } else {
      const auto slash = part.rfind('/');
      part = slash == std::string_view::npos ? std::string_view() : part.substr(0, slash + 1);
    }
  }
  return nullptr;
}

std::vector<std::string> PublishedPaths::listed() const {
  std::vector<std::string> paths;
  const auto rows = rows_.get();
  for (const auto& [path, row] : *rows) {
    if (row->route.listed) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace backplane
