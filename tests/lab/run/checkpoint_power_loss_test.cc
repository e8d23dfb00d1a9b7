#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <utility>

#include "engine/safetensors/file_io.hpp"
#include "lab/run/file_system.hpp"
#include "tests/lab/run/checkpoints.hpp"

namespace bcos::lab::run {
namespace {

namespace fs = std::filesystem;
using safetensors::system_calls;

/// A file or folder as programs see it, and what of it is on the disk for certain.
struct Node {
  using Entries = std::map<std::string, std::size_t>;  // of other nodes
  bool folder = false;
  std::string data;
  std::size_t forced_bytes = 0;
  Entries entries;
  Entries forced_entries;
};
using Nodes = std::vector<Node>;

/// Watches the store as long as it lives, and keeps what there was after every change.
class Disk {
 public:
  Disk(const std::string& root, bool honest) : root_(root), honest_(honest) {
    take(root);
    moments_.push_back(nodes_);
    current_ = this;
    files_ = system_calls();
    directories_ = directory_calls();
    system_calls().open = [](const char* path, int flags, mode_t mode) {
      const bool is_new = !fs::exists(path);
      const int fd = current_->files_.open(path, flags, mode);
      if (fd >= 0) current_->opened(path, fd, is_new);
      return fd;
    };
    system_calls().write = [](int fd, const void* data, std::size_t size) {
      const ssize_t written = current_->files_.write(fd, data, size);
      if (written > 0) current_->written(fd, data, static_cast<std::size_t>(written));
      return written;
    };
    system_calls().fsync = [](int fd) { return current_->force(fd); };
    system_calls().rename = [](const char* from, const char* to) {
      const int result = current_->files_.rename(from, to);
      if (result == 0) current_->put(to, current_->removed(from));
      return result;
    };
    system_calls().unlink = [](const char* path) {
      const int result = current_->files_.unlink(path);
      if (result == 0) current_->gone(path);
      return result;
    };
    directory_calls().mkdir = [](const char* path, mode_t mode) {
      const int result = current_->directories_.mkdir(path, mode);
      if (result == 0) current_->put(path, current_->made(true));
      return result;
    };
    directory_calls().rmdir = [](const char* path) {
      const int result = current_->directories_.rmdir(path);
      if (result == 0) current_->gone(path);
      return result;
    };
  }
  ~Disk() {
    system_calls() = files_;
    directory_calls() = directories_;
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  const std::vector<Nodes>& moments() const { return moments_; }

 private:
  std::size_t made(bool folder) {
    nodes_.push_back({.folder = folder, .data = {}, .entries = {}, .forced_entries = {}});
    return nodes_.size() - 1;
  }

  /// Everything that is there at first is on the disk.
  std::size_t take(const fs::path& path) {
    const bool folder = fs::is_directory(path);
    const std::size_t id = made(folder);
    if (!folder) {
      nodes_[id].data = safetensors::get(path.string());
      nodes_[id].forced_bytes = nodes_[id].data.size();
      return id;
    }
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::size_t child = take(entry.path());
      nodes_[id].entries[entry.path().filename().string()] = child;
    }
    nodes_[id].forced_entries = nodes_[id].entries;
    return id;
  }

  std::size_t node_at(const fs::path& path) const {
    std::size_t id = 0;
    for (const fs::path& part : path.lexically_relative(root_)) {
      if (part != ".") id = nodes_.at(id).entries.at(part.string());
    }
    return id;
  }

  void put(const fs::path& path, std::size_t id) {
    nodes_[node_at(path.parent_path())].entries[path.filename().string()] = id;
    moments_.push_back(nodes_);
  }
  std::size_t removed(const fs::path& path) {
    Node::Entries& entries = nodes_[node_at(path.parent_path())].entries;
    const auto found = entries.find(path.filename().string());
    const std::size_t id = found->second;
    entries.erase(found);
    return id;
  }
  void gone(const fs::path& path) {
    removed(path);
    moments_.push_back(nodes_);
  }
  void opened(const std::string& path, int fd, bool is_new) {
    if (is_new) put(path, made(false));
    open_[fd] = node_at(path);
  }
  void written(int fd, const void* data, std::size_t size) {
    nodes_[open_.at(fd)].data.append(static_cast<const char*>(data), size);
    moments_.push_back(nodes_);
  }
  int force(int fd) {
    if (honest_) {
      Node& node = nodes_[open_.at(fd)];
      node.forced_bytes = node.data.size();
      node.forced_entries = node.entries;
    }
    moments_.push_back(nodes_);
    return 0;
  }

  static inline Disk* current_ = nullptr;
  std::string root_;
  bool honest_;
  safetensors::SystemCalls files_{};
  DirectoryCalls directories_{};
  Nodes nodes_;
  std::vector<Nodes> moments_;
  std::map<int, std::size_t> open_;
};

/// Makes folders as the disk may hold them after the power has failed.
class PowerLoss {
 public:
  PowerLoss(const Nodes& nodes, std::uint32_t seed) : nodes_(nodes), random_(seed) {}

  void leave(const fs::path& path, std::size_t id = 0) {
    const Node& node = nodes_[id];
    if (!node.folder) {
      safetensors::put(path.string(), left_of(node));
      return;
    }
    fs::create_directory(path);
    Node::Entries names = node.entries;
    names.insert(node.forced_entries.begin(), node.forced_entries.end());
    for (const auto& [name, ignored] : names) {
      const Node::Entries& source = below(2) == 0 ? node.entries : node.forced_entries;
      const auto found = source.find(name);
      if (found != source.end()) leave(path / name, found->second);
    }
  }

 private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

  /// Of what was not forced out: all, a beginning, or as many other bytes.
  std::string left_of(const Node& node) {
    std::string data = node.data;
    const std::size_t loose = data.size() - node.forced_bytes;
    if (loose == 0) return data;
    const std::size_t from = node.forced_bytes + below(loose + 1);
    const std::size_t kind = below(3);
    if (kind == 0) data.resize(from);
    for (std::size_t i = from; kind == 1 && i < data.size(); ++i) data[i] = 0;
    return data;
  }

  const Nodes& nodes_;
  std::mt19937 random_;
};

class ACheckpointStoreWithoutPower : public Checkpoints {
 protected:
  /// What the store has promised from some moment on.
  struct Promise {
    std::size_t from;
    long latest;
    long best;
  };

  /// Saves steps 2 to 4 over step 1, keeping one and the best, and cuts the power a thousand times.
  /// Returns how often less was left than had been promised.
  int failures(bool honest) {
    start_again();
    std::vector<Nodes> moments;
    std::vector<Promise> promises = {{0, 1, -1}};
    {
      CheckpointStore store(path_, 1);
      save(store, 1);
      const Disk disk(path_, honest);
      const auto promise = [&](long latest, long best) {
        promises.push_back({disk.moments().size() - 1, latest, best});
      };
      save(store, 2, true);
      promise(2, 2);
      save(store, 3);
      promise(3, 2);
      save(store, 4);
      promise(4, 2);
      store.mark_best(4);
      promise(4, 4);
      moments = disk.moments();
    }
    EXPECT_GT(moments.size(), 40U);
    int count = 0;
    for (std::uint32_t cut = 0; cut < 1000; ++cut) {
      const std::size_t moment = cut % moments.size();
      fs::remove_all(path_);
      PowerLoss(moments[moment], cut).leave(path_);
      Promise promised = promises.front();
      for (const Promise& promise : promises) {
        if (promise.from <= moment) promised = promise;
      }
      const bool kept =
          latest() >= promised.latest && complaints_.empty() && best() >= promised.best;
      if (!kept || !all_whole()) {
        ++count;
        continue;
      }
      CheckpointStore store(path_, 1);
      save(store, 5);
      EXPECT_EQ(latest(), 5);
    }
    return count;
  }

  /// Whether everything with the name of a checkpoint is one.
  bool all_whole() {
    for (const std::string& name : names()) {
      if (!name.starts_with("step-") || name.find('.') != name.npos) continue;
      try {
        read_checkpoint(path_ + "/" + name);
      } catch (const Error&) {
        return false;
      }
    }
    return true;
  }
};

TEST_F(ACheckpointStoreWithoutPower, HasAWholeCheckpointAfterAThousandCuts) {
  EXPECT_EQ(failures(true), 0);
}

TEST_F(ACheckpointStoreWithoutPower, WouldNotOnADiskThatForcesNothing) {
  EXPECT_GT(failures(false), 100);
}

}  // namespace
}  // namespace bcos::lab::run
