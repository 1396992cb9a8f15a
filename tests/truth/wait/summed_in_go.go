// Goroutines that sum up under one lock what each could compute for itself.
// Planted: the terms are computed while the lock is held. Cured: they are computed before.
package main

import (
	"fmt"
	"math"
	"os"
	"sync"
)

type sums struct {
	lock  sync.Mutex
	total float64
}

func terms(from, count int) float64 {
	sum := 0.0
	for i := 0; i < count; i++ {
		sum += math.Sqrt(float64(from + i))
	}
	return sum
}

func (all *sums) addPlanted(from, count int) {
	all.lock.Lock() // planted: goroutine-wait
	defer all.lock.Unlock()
	all.total += terms(from, count)
}

func (all *sums) addCured(from, count int) {
	sum := terms(from, count)
	all.lock.Lock()
	defer all.lock.Unlock()
	all.total += sum
}

func main() {
	cured := os.Getenv("CURED") != ""
	var all sums
	var done sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for i := 0; i < 500; i++ {
				if cured {
					all.addCured(i, 500000)
				} else {
					all.addPlanted(i, 500000)
				}
			}
		}()
	}
	done.Wait()
	fmt.Printf("%.6e\n", all.total)
}
