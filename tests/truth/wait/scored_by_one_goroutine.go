// Readers hand what they parsed to goroutines that score it, by a channel without room.
// Planted: one goroutine scores for all readers. Cured: there are as many as processors.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
)

func parse(number int) float64 {
	value := float64(number)
	for i := 0; i < 20000; i++ {
		value = math.Sqrt(value + float64(i))
	}
	return value
}

func score(value float64) float64 {
	for i := 0; i < 400000; i++ {
		value = math.Sqrt(value + float64(i))
	}
	return value
}

func main() {
	scorers := 1
	if os.Getenv("CURED") != "" {
		scorers = runtime.NumCPU()
	}
	parsed := make(chan float64)
	scores := make([]float64, scorers)
	var reading, scoring sync.WaitGroup
	for i := 0; i < scorers; i++ {
		scoring.Add(1)
		go func(sum *float64) {
			defer scoring.Done()
			for value := range parsed {
				*sum += score(value)
			}
		}(&scores[i])
	}
	for reader := 0; reader < 4; reader++ {
		reading.Add(1)
		go func() {
			defer reading.Done()
			for i := 0; i < 500; i++ {
				parsed <- parse(i) // planted: goroutine-wait
			}
		}()
	}
	reading.Wait()
	close(parsed)
	scoring.Wait()
	total := 0.0
	for _, sum := range scores {
		total += sum
	}
	fmt.Printf("%.6e\n", total)
}
