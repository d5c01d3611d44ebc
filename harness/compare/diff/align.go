package diff

// A Pair is two corresponding elements of two sequences, by their indexes; -1 where there is no counterpart.
type Pair struct{ Ref, Cand int }

// Align pairs the elements of two sequences of n and m elements in order, at the least cost. gap is the cost of an
// element without a counterpart. cost returns that of pairing two elements, and is called once for each two. If the
// table of the costs would have more than most entries, the elements are paired by position.
func Align(n, m, most, gap int, cost func(i, j int) int) []Pair {
	if n == 0 || m == 0 || n*m > most {
		return ByPosition(n, m)
	}
	// least[i*w+j] is the least cost from the i-th and the j-th element on, and paired is that cost if the two are paired.
	w := m + 1
	least, paired := make([]int32, (n+1)*w), make([]int32, n*w)
	for i := n; i >= 0; i-- {
		for j := m; j >= 0; j-- {
			switch at := i*w + j; {
			case i == n:
				least[at] = int32((m - j) * gap)
			case j == m:
				least[at] = int32((n - i) * gap)
			default:
				paired[at] = least[at+w+1] + int32(cost(i, j))
				least[at] = min(paired[at], least[at+w]+int32(gap), least[at+1]+int32(gap))
			}
		}
	}
	var out []Pair
	for i, j := 0, 0; i < n || j < m; {
		switch at := i*w + j; {
		case i < n && j < m && least[at] == paired[at]:
			out = append(out, Pair{i, j})
			i, j = i+1, j+1
		case i < n && least[at] == least[at+w]+int32(gap):
			out = append(out, Pair{i, -1})
			i++
		default:
			out = append(out, Pair{-1, j})
			j++
		}
	}
	return out
}

// ByPosition pairs the elements of two sequences of n and m elements by their indexes.
func ByPosition(n, m int) []Pair {
	out := make([]Pair, max(n, m))
	for i := range out {
		out[i] = Pair{i, i}
		if i >= n {
			out[i].Ref = -1
		}
		if i >= m {
			out[i].Cand = -1
		}
	}
	return out
}
