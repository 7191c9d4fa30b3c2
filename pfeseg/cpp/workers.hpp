// Threads that share out tasks among themselves.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace pfeseg {

// Says whether the caller was interrupted, as by Ctrl-C.
using Interrupted = std::function<bool()>;

// Runs task(0) ... task(count - 1) on threads that begin when all of them are there. So tasks
// may wait for each other, if each has a thread and none throws.
class Workers {
  public:
    Workers(int count, int threads, std::function<void(int)> task)
        : count_(count), task_(std::move(task)), running_(std::min(count, threads)) {
        threads_.reserve(running_);
        std::unique_lock<std::mutex> lock(mutex_);
        try {
            for (int k = running_; k > 0; --k) threads_.emplace_back([this] { work(); });
        } catch (const std::exception &) {  // let the others end without a task
            next_ = count_;
            lock.unlock();
            join();
            throw std::runtime_error("no more threads can be started");
        }
    }
    Workers(const Workers &) = delete;
    ~Workers() { join(); }

    // Waits for all tasks and returns true, or false if `interrupted` said yes
    // meanwhile: it is asked every 50 ms from the calling thread until it does.
    // The tasks go on even then; whoever interrupts has to tell them. What a task
    // threw is thrown again here.
    bool wait(const Interrupted &interrupted) {
        bool stopped = false;
        std::unique_lock<std::mutex> lock(mutex_);
        const auto done = [this] { return running_ == 0; };
        while (!finished_.wait_for(lock, std::chrono::milliseconds(50), done)) {
            lock.unlock();
            stopped = stopped || interrupted();
            lock.lock();
        }
        if (error_) std::rethrow_exception(error_);
        return !stopped;
    }
    void wait() {
        wait([] { return false; });
    }

  private:
    void work() {
        { const std::lock_guard<std::mutex> all_are_there(mutex_); }
        std::exception_ptr error;
        try {
            for (int i; (i = next_.fetch_add(1)) < count_;) task_(i);
        } catch (...) {
            next_ = count_;  // the others need not go on
            error = std::current_exception();
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        if (error && !error_) error_ = error;
        --running_;
        finished_.notify_one();
    }
    void join() {
        for (std::thread &thread : threads_) thread.join();
    }

    const int count_;
    const std::function<void(int)> task_;
    std::atomic<int> next_{0};
    int running_;  // under the mutex
    std::exception_ptr error_;
    std::mutex mutex_;
    std::condition_variable finished_;
    std::vector<std::thread> threads_;
};

}  // namespace pfeseg
