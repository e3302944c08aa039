// The content of a scenario, as lists of a few plain things. For decide_by_the_book() alone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "line.h"

namespace scenario::book {

// By name of resource; what is not named is 0. Thousandths, but bytes of memory and whole pods.
class Amounts {
 public:
  double operator[](const std::string& name) const;
  void set(const std::string& name, double amount) { by_name_[name] = amount; }
  void add(const Amounts& other, double times = 1);
  std::set<std::string> names() const;
  bool is_nothing() const;  // pods do not count

 private:
  std::map<std::string, double> by_name_;
};

std::set<std::string> names_of(const Amounts& a, const Amounts& b);
bool equal(const Amounts& a, const Amounts& b);
bool all_less_equal(const Amounts& a, const Amounts& b);
double largest_share(const Amounts& part, const Amounts& whole);

// A part of a card: of a vGPU, which may be an instance of its own ("g1-0"), or of a vNPU, which may be cut by a
// template.
struct CardPart {
  std::string card;
  double memory = 0, cores = 0;
  std::string instance{}, cut{};
};

// A part of a node's Ascend 310P chips, as MindCluster counts them: a piece of one by a template, or whole ones.
struct ChipPart {
  std::set<int> chips;
  std::string cut;
};

struct Device {
  std::string driver, node;
  Line words;  // its attributes and taints

  bool is_shared() const { return words.find("shared") != nullptr; }
  std::map<std::string, double> capacity() const;
  std::map<std::string, double> draws() const;  // on counters of its pool, by "SET.NAME"
};

struct Slice {
  std::string driver, node;
  std::size_t of_pool = 1;  // slices of the pool; none of its devices is given before all are there
  std::vector<Device> devices;
  std::map<std::string, double> counters;
};

// The holdings of a pod on its node beside amounts.
struct Given {
  std::vector<CardPart> cards;
  std::map<std::string, std::vector<CardPart>> npus;  // of HAMi, by family
  bool npu_cores = false;                             // those of npus are shares of a hundred
  ChipPart chips;
  std::set<int> shared_gpus;                                // by memory, or whole
  std::map<std::string, std::vector<std::string>> devices;  // of claims, by the claim's key; "driver/node/name"
  std::map<std::string, std::map<std::string, std::map<std::string, double>>> shares;  // claim, device, capacity
  int devices_on = -1;  // the node that they are of; it stays with a pod that is done
  std::set<int> cpus;
};

struct Cpu {
  int id, socket, core;  // a socket is a NUMA node
};

struct Numa {
  bool known = false, is_static = false, has_layout = false;
  std::string policy;
  std::vector<Cpu> cpus;
  std::set<int> free;  // as its agent reports
  double reserved = 0;
};

struct Node {
  std::string name;
  Amounts all;
  Line words;
  Numa numa;

  std::string label(const std::string& name) const;
  std::string annotation(const std::string& name) const;
};

struct Queue {
  std::string name;
  double weight = 1, priority = 0;
  bool is_open = true;
  Amounts capability, guarantee, wanted;  // wanted: spec.deserved
  std::map<std::string, double> devices;  // the capability of classes of devices
  Amounts most, deserved;                 // of this cycle
};

struct Group {
  std::string key;
  std::size_t queue = 0, min = 1;
  double priority = 0;
};

constexpr std::size_t kNoGroup = ~std::size_t{0};

struct Pod {
  std::string key;
  std::size_t group = kNoGroup, order = 0;
  double priority = 1;
  Amounts listed, asks;  // asks: without what only cards count (5.16.1)
  Line words;
  int node = -1;
  bool is_done = false;      // it has no node any more, and counts as ready
  bool has_started = false;  // on its node
  double bound_at = 0;       // seconds
  Given given;

  std::string label(const std::string& name) const;
  std::string annotation(const std::string& name) const;
  double wants(const std::string& resource) const;  // of devices: the limit, else the request
  std::vector<std::string> claims() const;          // their keys
};

struct Plugin {
  std::string name;
  std::map<std::string, std::string> arguments;

  bool is_on(const std::string& argument) const;
  double number(const std::string& argument, double fallback) const;
};

struct Objects {
  // False for what is not in the book; then nothing is decided.
  bool take(const Line& line);
  const Plugin* plugin(std::string_view name) const;
  const Line& device_config() const;  // what deviceshare reads, perhaps no words
  std::size_t find_group(const std::string& key) const;
  std::vector<const Pod*> pods_on(std::size_t node) const;

  std::vector<Plugin> plugins;
  bool cluster_reports_count = true;         // about chips, and not those of nodes
  std::set<std::string> shown;               // beside binds
  std::map<std::string, double> priorities;  // of classes
  std::vector<Node> nodes;
  std::vector<Queue> queues;
  std::vector<Group> groups;
  std::vector<Pod> pods;
  std::map<std::string, Line> claims, device_classes, device_configs;
  std::map<std::string, Line> node_reports, cluster_reports;  // of chips
  double now = 1'700'000'000;
  std::map<std::string, Slice> slices;  // by name

 private:
  bool take_policy(const Line& line);
  bool take_queue(const Line& line, const std::string& name);
  bool take_node(const Line& line, const std::string& name);
  bool take_group(const Line& line, const std::string& name);
  bool take_pod(const Line& line, const std::string& name);
  bool take_slice(const Line& line, const std::string& name);
  bool take_numa(const Line& line, const std::string& name);
  bool take_claim(const Line& line, const std::string& name);
  bool take_end(const Line& line, const std::string& name);
  bool take_report(const Line& line, const std::string& name);
  bool take_one(const Line& line, const std::string& name);

  std::size_t next_ = 0;
};

// "10Gi" as a number.
double amount_of(const std::string& text);
double number_of(const Line& line, std::string_view key, double fallback);
// "cpu:2,memory:1Gi" as words.
Line list_of(const Line& line, std::string_view key);

}  // namespace scenario::book
